"""Transposes files on a GPU, with each dtype of files_test, and converts some."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import files_conversion_test
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

    def test_conversions(self):
        array = files_test.array_of("u1", (5, 300, 200, 3))
        scale, bias = files_test.numpy.array([0.5, 2, -3]), files_test.numpy.array([1, -0.25, 8])
        path, out = self.save("in.npy", array), self.folder / "out.npy"
        for target in ("f16", "f32", "bf16", "e4m3fn", "i8"):
            self.succeed(path, out, "--on", "cuda", "--axes", "0,3,1,2", "--dtype", target, "--scale-axis", 1,
                         f"--scale={files_conversion_test.listed(scale)}", f"--bias={files_conversion_test.listed(bias)}")
            wanted = files_conversion_test.converted(array.transpose(0, 3, 1, 2), "u8", target, scale.reshape(3, 1, 1),
                                                     bias.reshape(3, 1, 1))
            self.assertEqual(out.read_bytes()[-wanted.nbytes:], wanted.tobytes(), target)


if __name__ == "__main__":
    script.need_a_gpu()
    script.main()
