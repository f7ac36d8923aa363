"""Transposes files on a GPU, with each dtype of files_test."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import files_test
import script


class FilesOnAGpu(files_test.Case):
    def test_each_type(self):
        shapes = [(300, 200), (7, 100, 33)]
        for i, dtype in enumerate(files_test.DTYPES):
            array = files_test.array_of(dtype, shapes[i % 2])
            path, out = self.save("in.npy", array), self.folder / "out.npy"
            self.succeed(path, out, "--on", "cuda")
            self.expect_transposed(out, array)


if __name__ == "__main__":
    script.need_a_gpu()
    script.main()
