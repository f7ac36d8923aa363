"""What the emulator's CUDA runtime does where CUDA leaves it open, or where no GPU could be asked for it."""

import script
from emulate_test import PROGRAMS, Emulate


class Runtime(Emulate):
    def expect_ok(self, text, *words):
        """Runs a program that returns how many of its checks failed."""
        head = '#include <cuda_runtime.h>\n#include "expect.h"\n'
        name = self.write("program.cu", head + text)
        found = self.run_program("emulate", name, f"-I{PROGRAMS}", *words)
        self.assertEqual((found.returncode, found.stdout.split("\n")[0]), (0, "ok"), found.stdout + found.stderr)

    def test_a_reset_ends_all_captures(self):
        self.expect_ok("""
            int main() {
                for (int i = 0; i < 2; ++i) {
                    cudaStream_t first, second;
                    cudaEvent_t event;
                    int* values;
                    EXPECT_SUCCESS(cudaStreamCreate(&first));
                    EXPECT_SUCCESS(cudaStreamCreate(&second));
                    EXPECT_SUCCESS(cudaEventCreate(&event));
                    EXPECT_SUCCESS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
                    EXPECT_SUCCESS(cudaEventRecord(event, first));
                    EXPECT_SUCCESS(cudaStreamWaitEvent(second, event, 0));
                    EXPECT_SUCCESS(cudaDeviceReset());
                    EXPECT_SUCCESS(cudaMalloc(&values, 64));
                    EXPECT_SUCCESS(cudaMemset(values, 1, 64));
                    EXPECT_SUCCESS(cudaDeviceSynchronize());
                }
                return finish();
            }
        """)


if __name__ == "__main__":
    script.main()
