"""The emulator's CUDA runtime in cases that CUDA does not specify, or that no GPU can produce."""

import script
from emulate_test import PROGRAMS, Emulate


class Runtime(Emulate):
    def expect_ok(self, text, *arguments):
        """Runs a program that returns the number of its failed checks."""
        head = '#include <cuda_runtime.h>\n#include "expect.h"\n'
        name = self.write("program.cu", head + text)
        found = self.run_program("emulate", name, f"-I{PROGRAMS}", *arguments)
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

    def test_the_report_has_the_launches_of_destructors(self):
        name = self.write("late.cu", """
            #include <cstdlib>
            __global__ void in_main(int* out) { *out = 1; }
            __global__ void at_exit(int* out) { *out = 2; }
            __global__ void of_object(int* out) { *out = 3; }
            __global__ void of_function(int* out) { *out = 4; }
            int* memory;
            struct late { ~late() { of_object<<<1, 1>>>(memory); } };
            late global;
            void handler() { at_exit<<<1, 1>>>(memory); }
            [[gnu::destructor]] void last() { of_function<<<1, 1>>>(memory); }
            int main() {
                static late local;
                cudaMalloc(&memory, 4);
            #ifndef LATE
                in_main<<<1, 1>>>(memory);
            #endif
                std::atexit(handler);
            }
        """)
        late = ["at_exit", "of_object", "of_function"]
        for arguments, kernels in ((["-Xcompiler", "-pie"], ["in_main", *late]), (["-Xcompiler", "-no-pie"], ["in_main", *late]), (["-DLATE"], late)):
            found, counted = self.counters(name, *arguments)
            self.assertEqual((found.returncode, found.stderr, list(counted)), (0, "", kernels), arguments)
            self.assertEqual(counted["of_object"]["launches"], 2)

    def test_forms_of_cuda_12(self):
        """A call that fails early still sets its outputs."""
        self.expect_ok("""
            int main() {
                cudaStream_t stream;
                cudaGraph_t graph, same = nullptr;
                cudaGraphNode_t node, other, wrong, list[9];
                cudaStreamCaptureStatus status;
                const cudaGraphNode_t* behind = nullptr;
                unsigned long long id = 0;
                size_t count = 9;
                EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
                EXPECT_SUCCESS(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
                EXPECT_SUCCESS(cudaGraphAddEmptyNode(&other, graph, &node, 1));
                EXPECT_SUCCESS(cudaGraphNodeGetDependentNodes(node, list, &count));
                EXPECT(count == 1 && list[0] == other && list[1] == nullptr && list[8] == nullptr);
                EXPECT_SUCCESS(cudaStreamCreate(&stream));
                EXPECT_SUCCESS(cudaStreamBeginCaptureToGraph(stream, graph, &node, nullptr, 1, cudaStreamCaptureModeGlobal));
                EXPECT_SUCCESS(cudaStreamUpdateCaptureDependencies(stream, &other, 1, cudaStreamSetCaptureDependencies));
                EXPECT_SUCCESS(cudaStreamUpdateCaptureDependencies(stream, &node, 0, 1));  // CUDA 13's form: no data of edges
                EXPECT_SUCCESS(cudaStreamGetCaptureInfo(stream, &status, &id, &same, &behind, &count));
                EXPECT(count == 2 && behind[0] == other && behind[1] == node && same == graph);
                EXPECT_SUCCESS(cudaStreamGetCaptureInfo(stream, &status, &id, &same, &behind, nullptr));
                EXPECT_SUCCESS(cudaStreamEndCapture(stream, nullptr));

                wrong = node;
                cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
                EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphExecUpdate(nullptr, graph, &wrong, &result));
                EXPECT(result == cudaGraphExecUpdateError && wrong == nullptr);
                return finish();
            }
        """)

    def test_kernels_get_their_arguments_without_optimisation(self):
        """A kernel in host code is one jump with any option. The function after it is no kernel."""
        for options in (["-O0"], ["-O0", "-g"], ["-O2", "-Xcompiler", "-pg"], ["-Xcompiler", "-fpatchable-function-entry=8"],
                      ["-O0", "-Xcompiler", "-finstrument-functions"]):
            self.expect_ok("""
                struct pair { float a, b; };
                __global__ void add(float4 a, double4 b, pair c, char d, bool e, short f, float g, float* out) {
                    extern __shared__ float shared[];
                    shared[20000] = a.x + a.y + a.z + a.w + b.x + b.w + c.a + c.b + d + e + f + g;
                    *out = shared[20000];
                }
                extern "C" void ordinary(int) {}
                int main() {
                    float* out;
                    cudaFuncAttributes found;
                    EXPECT_SUCCESS(cudaMallocManaged(&out, 4));
                    EXPECT_SUCCESS(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
                    add<<<1, 1, 100000>>>({1, 2, 3, 4}, {10, 0, 0, 20}, {100, 200}, 1, true, 3, 1000, out);
                    EXPECT_SUCCESS(cudaDeviceSynchronize());
                    EXPECT(*out == 1 + 2 + 3 + 4 + 10 + 20 + 100 + 200 + 1 + 1 + 3 + 1000);
                    EXPECT_STATUS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&found, (const void*)ordinary));
                    return finish();
                }
            """, *options)

    def test_memory_of_a_graph_that_the_system_refuses(self):
        """Without -pie the program is at low addresses: memory of this size at a null pointer would contain it."""
        self.expect_ok("""
            #include <sys/resource.h>
            int main() {
                cudaGraph_t graph;
                cudaGraphNode_t node;
                cudaMemAllocNodeParams wanted{};
                wanted.poolProps.allocType = cudaMemAllocationTypePinned;
                wanted.poolProps.location.type = cudaMemLocationTypeDevice;
                wanted.bytesize = 256 << 20;
                EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
                const rlimit limit{128 << 20, 128 << 20};
                EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
                EXPECT_STATUS(cudaErrorMemoryAllocation, cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted));
                return finish();
            }
        """, "-Xcompiler", "-no-pie", "-Xlinker", "-no-pie")

    def test_a_kernel_cannot_wait_for_the_device(self):
        name = self.write("wait.cu", """
            __device__ int waited() {
                return cudaDeviceSynchronize();
            }
            __global__ void waits(int* out) { *out = waited(); }
            int main() {
                int* out;
                cudaMalloc(&out, 4);
                waits<<<1, 1>>>(out);
                return cudaDeviceSynchronize() == cudaErrorNotSupported ? 0 : 1;
            }
        """)
        found = self.run_program("emulate", name)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assert_line_names(found.stderr, "cornerturn", "unsupported_feature", "waits", "cudaDeviceSynchronize()",
                               "wait.cu:3")

    def test_a_destroyed_stream_takes_no_work(self):
        self.expect_ok("""
            __global__ void k(int* out) { *out = 1; }
            int main() {
                cudaStream_t gone;
                int* out;
                EXPECT_SUCCESS(cudaMallocManaged(&out, 4));
                EXPECT_SUCCESS(cudaStreamCreate(&gone));
                EXPECT_SUCCESS(cudaStreamDestroy(gone));
                k<<<1, 1, 0, gone>>>(out);
                EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaGetLastError());
                void* arguments[] = {&out};
                EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaLaunchKernel(k, dim3(1), dim3(1), arguments, 0, gone));
                EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaMemsetAsync(out, 1, 4, gone));
                EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaMallocAsync(&out, 4, gone));
                EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaFreeAsync(out, gone));
                EXPECT(*out == 0);
                return finish();
            }
        """)


if __name__ == "__main__":
    script.main()
