/* SPDX-License-Identifier: Apache-2.0 */
/* All devices of a kind are described as the same one, which can run every plan class of its kind:
 * differences between devices are not emulated. */
#include "tools/lab/volunteers/wire/processor_kind.h"

#include "server/base/banned.h"

#define OPENCL(vendor, platform)                                                    \
    "   <coproc_opencl>\n      <name>Emulated</name>\n"                             \
    "      <vendor>" vendor "</vendor>\n      <available>1</available>\n"           \
    "      <half_fp_config>0</half_fp_config>\n"                                    \
    "      <single_fp_config>191</single_fp_config>\n"                              \
    "      <double_fp_config>63</double_fp_config>\n"                               \
    "      <extensions>cl_khr_global_int32_base_atomics cl_khr_fp64</extensions>\n" \
    "      <global_mem_size>8364228608</global_mem_size>\n"                         \
    "      <local_mem_size>65536</local_mem_size>\n"                                \
    "      <max_clock_frequency>1725</max_clock_frequency>\n"                       \
    "      <max_compute_units>46</max_compute_units>\n"                             \
    "      <nv_compute_capability_major>8</nv_compute_capability_major>\n"          \
    "      <nv_compute_capability_minor>6</nv_compute_capability_minor>\n"          \
    "      <opencl_platform_version>" platform "</opencl_platform_version>\n"       \
    "      <opencl_device_version>OpenCL 3.0</opencl_device_version>\n"             \
    "      <opencl_driver_version>535.129.03</opencl_driver_version>\n"             \
    "   </coproc_opencl>\n"

#define WSL_GPU(name, has)                                                              \
    "            <wsl_gpu>\n                <name>" name "</name>\n" has "            " \
    "</wsl_gpu>\n"
#define CUDA   "                <has_cuda/>\n"
#define HAS_CL "                <has_opencl/>\n"

const struct processor_kind processor_kinds[CLIENT_RESOURCES] = {
    {"CPU", NULL, NULL, NULL, NULL},
    {"NVIDIA", "coproc_cuda", "ncudas",
     "   <name>NVIDIA GeForce RTX 3070</name>\n"
     "   <available_ram>8364228608.000000</available_ram>\n"
     "   <have_cuda>1</have_cuda>\n   <have_opencl>1</have_opencl>\n"
     "   <cudaVersion>12020</cudaVersion>\n   <drvVersion>53512</drvVersion>\n"
     "   <totalGlobalMem>8364228608.000000</totalGlobalMem>\n"
     "   <clockRate>1725000</clockRate>\n   <major>8</major>\n   <minor>6</minor>\n"
     "   <multiProcessorCount>46</multiProcessorCount>\n" //
     OPENCL("NVIDIA Corporation", "OpenCL 3.0 CUDA 12.2.0"),
     WSL_GPU("NVIDIA", CUDA HAS_CL)},
    {"ATI", "coproc_ati", "natis",
     "   <name>AMD Radeon RX 6800</name>\n"
     "   <available_ram>17163091968.000000</available_ram>\n"
     "   <have_cal>1</have_cal>\n   <have_opencl>1</have_opencl>\n"
     "   <CALVersion>1.4.1848</CALVersion>\n   <target>20</target>\n"
     "   <localRAM>16368</localRAM>\n   <engineClock>2105</engineClock>\n"
     "   <wavefrontSize>64</wavefrontSize>\n   <numberOfSIMD>60</numberOfSIMD>\n"
     "   <doublePrecision>1</doublePrecision>\n    <atirt_detected/>\n    <amdrt_detected/>\n" //
     OPENCL("Advanced Micro Devices, Inc.", "OpenCL 2.1 AMD-APP (3444.0)"),
     WSL_GPU("AMD", HAS_CL)},
    {"intel_gpu", "coproc_intel_gpu", "nintel_gpus",
     "   <name>Intel(R) UHD Graphics 770</name>\n"
     "   <available_ram>13437472768.000000</available_ram>\n"
     "   <have_opencl>1</have_opencl>\n" //
     OPENCL("Intel(R) Corporation", "OpenCL 3.0"),
     WSL_GPU("intel_gpu", HAS_CL)},
};

size_t processor_kind_find(struct text type)
{
    if (text_equal_nocase(type, TEXT("CUDA"))) /* as clients of before 6.11 were told */
        return 1;
    for (size_t i = 0; i < CLIENT_RESOURCES; i++)
        if (text_equal_nocase(type, text_from(processor_kinds[i].type)))
            return i;
    return CLIENT_RESOURCES;
}
