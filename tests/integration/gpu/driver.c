/* SPDX-License-Identifier: Apache-2.0 */
/* As much of NVIDIA's driver libraries as a BOINC client asks when it looks for GPUs: one device,
 * which computes nothing. For real_client_gpu.sh. */
#include <stddef.h>
#include <stdio.h>

enum { CLOCK_KHZ = 1725000, PROCESSORS = 46, CUDA_VERSION = 12020 };
static const size_t memory_bytes = (size_t)8 << 30;
static const size_t memory_free_bytes = (size_t)7 << 30;

/* By the numbers of the driver's interface; what is not here is 1024. */
static const int attributes[] = {
    [5] = 2147483647, [6] = 65535,      [7] = 65535, [8] = 49152,       [9] = 65536, [10] = 32,
    [12] = 65536,     [13] = CLOCK_KHZ, [15] = 1,    [16] = PROCESSORS, [33] = 1,
};

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    return (int)flags;
}

int cuDriverGetVersion(int *ret_version);
int cuDriverGetVersion(int *ret_version)
{
    *ret_version = CUDA_VERSION;
    return 0;
}

int cuDeviceGetCount(int *ret_count);
int cuDeviceGetCount(int *ret_count)
{
    *ret_count = 1;
    return 0;
}

int cuDeviceGet(int *ret_device, int number);
int cuDeviceGet(int *ret_device, int number)
{
    *ret_device = number;
    return 0;
}

int cuDeviceGetName(char *ret_name, int size, int device);
int cuDeviceGetName(char *ret_name, int size, int device)
{
    snprintf(ret_name, (size_t)size, "Pretended GPU");
    return device;
}

int cuDeviceComputeCapability(int *ret_major, int *ret_minor, int device);
int cuDeviceComputeCapability(int *ret_major, int *ret_minor, int device)
{
    *ret_major = 8;
    *ret_minor = 6;
    return device;
}

int cuDeviceTotalMem(size_t *ret_bytes, int device);
int cuDeviceTotalMem(size_t *ret_bytes, int device)
{
    *ret_bytes = memory_bytes;
    return device;
}

int cuDeviceTotalMem_v2(size_t *ret_bytes, int device);
int cuDeviceTotalMem_v2(size_t *ret_bytes, int device)
{
    return cuDeviceTotalMem(ret_bytes, device);
}

int cuDeviceGetAttribute(int *ret_value, int attribute, int device);
int cuDeviceGetAttribute(int *ret_value, int attribute, int device)
{
    size_t count = sizeof(attributes) / sizeof(attributes[0]);

    *ret_value = attribute >= 0 && (size_t)attribute < count && attributes[attribute] != 0
                     ? attributes[attribute]
                     : 1024;
    return device;
}

int cuCtxCreate(void **ret_context, unsigned flags, unsigned device);
int cuCtxCreate(void **ret_context, unsigned flags, unsigned device)
{
    static int context;

    (void)flags;
    *ret_context = &context;
    return (int)device;
}

int cuCtxDestroy(void *context);
int cuCtxDestroy(void *context)
{
    (void)context;
    return 0;
}

int cuMemAlloc(unsigned *ret_pointer, size_t bytes);
int cuMemAlloc(unsigned *ret_pointer, size_t bytes)
{
    *ret_pointer = (unsigned)bytes;
    return 0;
}

int cuMemFree(unsigned pointer);
int cuMemFree(unsigned pointer)
{
    (void)pointer;
    return 0;
}

int cuMemGetInfo(size_t *ret_free, size_t *ret_total);
int cuMemGetInfo(size_t *ret_free, size_t *ret_total)
{
    *ret_free = memory_free_bytes;
    *ret_total = memory_bytes;
    return 0;
}

int cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total);
int cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total)
{
    return cuMemGetInfo(ret_free, ret_total);
}

/* Of the second library, which tells the version of the driver. */
int nvmlInit(void);
int nvmlInit(void)
{
    return 0;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    return 0;
}

int nvmlSystemGetDriverVersion(char *ret_version, unsigned size);
int nvmlSystemGetDriverVersion(char *ret_version, unsigned size)
{
    snprintf(ret_version, size, "535.129");
    return 0;
}
