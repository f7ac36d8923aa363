// Eigen's matrices, which are column-major by default. One is transposed into another, then a block of one in place.
#include <Eigen/Core>
#include <cstdio>

#include "cornerturn/transpose.hpp"

// A column-major matrix has the same bytes as the row-major matrix with rows and columns exchanged.
template <class Matrix>
auto row_major_view(Matrix& m) {
    return cornerturn::matrix_view{m.data(), m.cols(), m.rows(), m.outerStride()};
}

int main() {
    const Eigen::MatrixXf in = Eigen::MatrixXf::Random(300, 200);
    Eigen::MatrixXf out(200, 300);
    cornerturn::transpose(row_major_view(in), row_major_view(out));
    if (out != in.transpose()) return 1;

    Eigen::MatrixXd square = Eigen::MatrixXd::Random(64, 64);
    const Eigen::MatrixXd before = square;
    auto block = square.block(8, 16, 40, 40);
    cornerturn::transpose_in_place(row_major_view(block));
    if (square.block(8, 16, 40, 40) != before.block(8, 16, 40, 40).transpose()) return 1;
    if (square.topRows(8) != before.topRows(8) || square.leftCols(16) != before.leftCols(16)) return 1;

    // Row-major matrices need no exchange.
    const Eigen::Matrix<int, 3, 5, Eigen::RowMajor> rows = Eigen::Matrix<int, 3, 5, Eigen::RowMajor>::Random();
    Eigen::Matrix<int, 5, 3, Eigen::RowMajor> columns;
    cornerturn::transpose(cornerturn::matrix_view{rows.data(), 3, 5}, cornerturn::matrix_view{columns.data(), 5, 3});
    if (columns != rows.transpose()) return 1;
    std::puts("transposed");
}
