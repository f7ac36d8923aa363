// cublasLt: one matrix product with an epilogue, computed on the host. A descriptor stores the value of each attribute
// in data[attribute].
#include <cublasLt.h>

#include <cmath>
#include <cstring>

#include "emulate/runtime/cublas_handle.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/matrix_product.hpp"
#include "emulate/runtime/streams.hpp"

struct cublasLtContext {};

namespace cornerturn::emulator {
namespace {

handles<cublasLtContext>& lt_handles() {
    static auto* const one = new handles<cublasLtContext>;
    return *one;
}

// A cuBLAS handle is valid too, as in CUDA.
bool lt_exists(cublasLtHandle_t handle) {
    return lt_handles().has(handle) || cublas_handles().has(reinterpret_cast<cublasHandle_t>(handle));
}

template <class Opaque>
cublasStatus_t set_attribute(Opaque* in, int attribute, const void* from, std::size_t bytes) {
    if (!in || !from || attribute < 0 || !bytes || bytes > sizeof in->data[0]) return CUBLAS_STATUS_INVALID_VALUE;
    if (static_cast<std::size_t>(attribute) >= std::size(in->data)) return CUBLAS_STATUS_INVALID_VALUE;
    in->data[attribute] = 0;
    std::memcpy(&in->data[attribute], from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque>
cublasStatus_t get_attribute(const Opaque* in, int attribute, void* to, std::size_t bytes, std::size_t* written) {
    if (!in || !to || attribute < 0 || bytes > sizeof in->data[0]) return CUBLAS_STATUS_INVALID_VALUE;
    if (static_cast<std::size_t>(attribute) >= std::size(in->data)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, &in->data[attribute], bytes);
    if (written) *written = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque>
cublasStatus_t destroy(const Opaque* description) {
    delete description;
    return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
Value attribute_of(const cublasLtMatmulDescOpaque_t* from, cublasLtMatmulDescAttributes_t attribute) {
    Value value;
    std::memcpy(&value, &from->data[attribute], sizeof value);
    return value;
}

struct layout {
    explicit layout(const cublasLtMatrixLayoutOpaque_t* from)
        : type(static_cast<cudaDataType>(from->data[CUBLASLT_MATRIX_LAYOUT_TYPE])),
          by_rows(from->data[CUBLASLT_MATRIX_LAYOUT_ORDER] == CUBLASLT_ORDER_ROW),
          known(from->data[CUBLASLT_MATRIX_LAYOUT_ORDER] <= CUBLASLT_ORDER_ROW),
          rows(static_cast<std::int64_t>(from->data[CUBLASLT_MATRIX_LAYOUT_ROWS])),
          cols(static_cast<std::int64_t>(from->data[CUBLASLT_MATRIX_LAYOUT_COLS])),
          ld(static_cast<std::int64_t>(from->data[CUBLASLT_MATRIX_LAYOUT_LD])),
          batches(static_cast<std::int32_t>(from->data[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT])),
          batch_bytes(static_cast<std::int64_t>(from->data[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET]) *
                      static_cast<std::int64_t>(element_bytes(type))) {}

    bool fits(const void* at) const {
        return device_matrix(at, type, by_rows ? cols : rows, by_rows ? rows : cols, ld);
    }
    // A matrix stored by rows is its transpose stored by columns.
    operand stored(const void* at, cublasOperation_t op) const {
        const bool transposed = (op != CUBLAS_OP_N) != by_rows;
        return {at, type, ld, transposed ? CUBLAS_OP_T : CUBLAS_OP_N};
    }

    cudaDataType type;
    bool by_rows, known;
    std::int64_t rows, cols, ld;
    int batches;
    std::int64_t batch_bytes;
};

struct product {
    const cublasLtMatmulDescOpaque_t* description;
    layout a, b, c, d;
    const void *at_a, *at_b, *at_c;
    void* at_d;
    const void *alpha, *beta;
};

// The operations on each element after the product.
struct epilogue {
    bool relu, gelu, bias, aux;

    static bool read(std::uint32_t value, epilogue* to) {
        constexpr std::uint32_t kDefault = 1, kRelu = 2, kBias = 4, kGelu = 32, kAux = 128;
        const bool relu = value & kRelu, gelu = value & kGelu, aux = value & kAux;
        *to = {relu, gelu, (value & kBias) != 0, aux};
        if (value & ~(kDefault | kRelu | kBias | kGelu | kAux)) return false;
        return !(relu && gelu) && !(aux && !gelu);  // RELU_AUX writes a bit mask, which is not supported
    }
};

// The tanh approximation, like cublasLt.
template <class T>
T gelu_of(T x) {
    return T(0.5) * x * (T(1) + std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
}

template <class Compute, class Scale>
cublasStatus_t run_batch(const product& p, const epilogue& after, std::int64_t batch) {
    const auto op_a = attribute_of<cublasOperation_t>(p.description, CUBLASLT_MATMUL_DESC_TRANSA);
    const auto op_b = attribute_of<cublasOperation_t>(p.description, CUBLASLT_MATMUL_DESC_TRANSB);
    const void* const a = static_cast<const char*>(p.at_a) + batch * p.a.batch_bytes;
    const void* const b = static_cast<const char*>(p.at_b) + batch * p.b.batch_bytes;
    const char* const c = static_cast<const char*>(p.at_c) + batch * p.c.batch_bytes;
    char* const d = static_cast<char*>(p.at_d) + batch * p.d.batch_bytes;
    const auto by = scale_factors<Compute>::template read<Scale>(p.alpha, p.beta);
    const auto* const bias = attribute_of<const void*>(p.description, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
    auto* const aux = attribute_of<void*>(p.description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
    const auto aux_ld = attribute_of<std::int64_t>(p.description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
    if (!p.a.fits(a) || !p.b.fits(b) || !p.d.fits(d) || (by.reads_c() && !p.c.fits(c))) return illegal_address();
    if (after.bias && !device_matrix(bias, p.d.type, p.d.rows, 1, p.d.rows)) return illegal_address();
    if (after.aux && (aux_ld < p.d.rows || !device_matrix(aux, p.d.type, p.d.rows, p.d.cols, aux_ld))) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const std::int64_t inner = op_a == CUBLAS_OP_N ? p.a.cols : p.a.rows;
    with_element<Compute>(p.d.type, [&](auto element) {
        using stored_type = decltype(element);
        const auto* const from = reinterpret_cast<const stored_type*>(c);
        auto* const to = reinterpret_cast<stored_type*>(d);
        const auto at = [](const layout& in, std::int64_t row, std::int64_t col) {
            return in.by_rows ? row * in.ld + col : col * in.ld + row;
        };
        const auto finish = [&](std::int64_t row, std::int64_t col, Compute sum) {
            Compute value = by.scaled(sum, from + at(p.c, row, col));
            if (after.bias) value += loaded<Compute>(static_cast<const stored_type*>(bias)[row]);
            if (after.aux) static_cast<stored_type*>(aux)[col * aux_ld + row] = stored<stored_type>(value);
            if (after.relu && !(value > Compute{0})) value = value != value ? value : Compute{0};
            if (after.gelu) value = gelu_of(value);
            to[at(p.d, row, col)] = stored<stored_type>(value);
        };
        multiply<Compute>(p.d.rows, p.d.cols, inner, p.a.stored(a, op_a), p.b.stored(b, op_b), finish);
    });
    return CUBLAS_STATUS_SUCCESS;
}

template <class Compute, class Scale>
cublasStatus_t run(const product& p, const epilogue& after) {
    if (!takes<Compute>(p.a.type) || !takes<Compute>(p.b.type) || !takes<Compute>(p.d.type)) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    for (std::int64_t batch = 0; batch < p.d.batches; ++batch) {
        if (const cublasStatus_t status = run_batch<Compute, Scale>(p, after, batch)) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}

// Checks the shapes, and that this file supports the product.
cublasStatus_t check(const cublasLtMatmulDescOpaque_t* description, const layout& a, const layout& b, const layout& c,
                     const layout& d, epilogue* after) {
    const bool transpose_a = attribute_of<cublasOperation_t>(description, CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N;
    const bool transpose_b = attribute_of<cublasOperation_t>(description, CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N;
    const std::int64_t m = transpose_a ? a.cols : a.rows, k = transpose_a ? a.rows : a.cols;
    if ((transpose_b ? b.cols : b.rows) != k || (transpose_b ? b.rows : b.cols) != d.cols || m != d.rows ||
        c.rows != d.rows || c.cols != d.cols) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    for (const layout& one : {a, b, c, d}) {
        if (!one.known) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (one.ld < (one.by_rows ? one.cols : one.rows) || one.batches != d.batches)
            return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (c.type != d.type ||
        !epilogue::read(attribute_of<std::uint32_t>(description, CUBLASLT_MATMUL_DESC_EPILOGUE), after) ||
        attribute_of<std::uint32_t>(description, CUBLASLT_MATMUL_DESC_POINTER_MODE) > CUBLASLT_POINTER_MODE_DEVICE) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t run_as(const product& p, const epilogue& after) {
    const auto scale = attribute_of<cudaDataType>(p.description, CUBLASLT_MATMUL_DESC_SCALE_TYPE);
    switch (attribute_of<cublasComputeType_t>(p.description, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE)) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return scale == CUDA_R_16F ? run<float, half_bits>(p, after) : CUBLAS_STATUS_NOT_SUPPORTED;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            return scale == CUDA_R_64F ? run<double, double>(p, after) : CUBLAS_STATUS_NOT_SUPPORTED;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC: return CUBLAS_STATUS_NOT_SUPPORTED;
        default: return scale == CUDA_R_32F ? run<float, float>(p, after) : CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* lightHandle) {
    if (!lightHandle) return CUBLAS_STATUS_INVALID_VALUE;
    *lightHandle = lt_handles().add({});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
    return lt_handles().remove(lightHandle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmulDesc, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType) {
    if (!matmulDesc) return CUBLAS_STATUS_INVALID_VALUE;
    *matmulDesc = new cublasLtMatmulDescOpaque_t{};
    (*matmulDesc)->data[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = computeType;
    (*matmulDesc)->data[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = scaleType;
    (*matmulDesc)->data[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) { return destroy(matmulDesc); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              const void* buf, size_t sizeInBytes) {
    return set_attribute(matmulDesc, attr, buf, sizeInBytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              void* buf, size_t sizeInBytes, size_t* sizeWritten) {
    return get_attribute(matmulDesc, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matLayout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
    if (!matLayout) return CUBLAS_STATUS_INVALID_VALUE;
    *matLayout = new cublasLtMatrixLayoutOpaque_t{
        {static_cast<uint64_t>(type), CUBLASLT_ORDER_COL, rows, cols, static_cast<uint64_t>(ld), 1, 0, 0}};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) { return destroy(matLayout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, size_t sizeInBytes) {
    return set_attribute(matLayout, attr, buf, sizeInBytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                void* buf, size_t sizeInBytes, size_t* sizeWritten) {
    return get_attribute(matLayout, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
    if (!pref) return CUBLAS_STATUS_INVALID_VALUE;
    *pref = new cublasLtMatmulPreferenceOpaque_t{};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) { return destroy(pref); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t, const void* buf, size_t) {
    return pref && buf ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;  // ignored: there is only one algorithm
}

// One algorithm for all supported products.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                              cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                              cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                              cublasLtMatmulPreference_t preference, int requestedAlgoCount,
                                              cublasLtMatmulHeuristicResult_t heuristicResultsArray[],
                                              int* returnAlgoCount) {
    if (!lt_exists(lightHandle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!operationDesc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !preference || requestedAlgoCount <= 0 ||
        !heuristicResultsArray || !returnAlgoCount) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    epilogue after{};
    *returnAlgoCount = 0;
    const cublasStatus_t status =
        check(operationDesc, layout(Adesc), layout(Bdesc), layout(Cdesc), layout(Ddesc), &after);
    if (status) return status;
    heuristicResultsArray[0] = {};
    heuristicResultsArray[0].wavesCount = 1.0f;
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void* alpha,
                              const void* A, cublasLtMatrixLayout_t Adesc, const void* B, cublasLtMatrixLayout_t Bdesc,
                              const void* beta, const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) try {
    if (!lt_exists(lightHandle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (sticky_error()) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!computeDesc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !alpha || !beta || !stream_exists(stream)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (refuse_in_capture(stream)) return CUBLAS_STATUS_NOT_SUPPORTED;
    const product p{computeDesc, layout(Adesc), layout(Bdesc), layout(Cdesc), layout(Ddesc), A, B, C, D, alpha, beta};
    epilogue after{};
    if (const cublasStatus_t status = check(p.description, p.a, p.b, p.c, p.d, &after)) return status;
    return run_as(p, after);
} catch (...) {
    return CUBLAS_STATUS_ALLOC_FAILED;
}

}  // extern "C"
