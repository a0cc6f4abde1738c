/*
 * A stand-in for libnvidia-ml.so.1: what nvidia-smi and the container toolkit ask of NVML.
 *
 * Names and codes: nvml.h as published in the package nvidia-ml-py. Simpler than the real thing: what has no call of
 * its own here is read by name through goldnode_device_field; nothing can be set.
 */
#include "gpu.h"

#define API __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    DRIVER_NOT_LOADED = 9,
    LIB_RM_VERSION_MISMATCH = 18,
    UNKNOWN = 999
};

static struct gpu gpus[MAX_GPUS];
static int count, initialized;

API const char *nvmlErrorString(int code)
{
    switch (code) {
    case SUCCESS: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NO_PERMISSION: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case LIB_RM_VERSION_MISMATCH: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}

/* EPERM comes from the device cgroup and is "Unknown Error"; EACCES from file mode or SELinux, "Insufficient Permissions". */
static int code_of(int error)
{
    return error == ENOENT ? DRIVER_NOT_LOADED : error == EACCES ? NO_PERMISSION : error ? UNKNOWN : SUCCESS;
}

API int nvmlInit_v2(void)
{
    char loaded[TEXT];
    int code;

    if (loaded_version(loaded, sizeof loaded))
        return DRIVER_NOT_LOADED;
    if ((code = code_of(node_error("nvidiactl", GOLDNODE_MAJOR))))
        return code;
    if (strcmp(loaded, DRIVER_VERSION))
        return LIB_RM_VERSION_MISMATCH;
    count = read_gpus(gpus);
    initialized = 1;
    return SUCCESS;
}

API int nvmlShutdown(void)
{
    initialized = 0;
    return SUCCESS;
}

API int nvmlSystemGetNVMLVersion(char *version, unsigned size)
{
    snprintf(version, size, "%s", DRIVER_VERSION);
    return SUCCESS;
}

API int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    return initialized && !loaded_version(version, size) ? SUCCESS : UNINITIALIZED;
}

API int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = CUDA_VERSION;
    return SUCCESS;
}

API int nvmlDeviceGetCount_v2(unsigned *devices)
{
    *devices = (unsigned)count;
    return initialized ? SUCCESS : UNINITIALIZED;
}

/* A GPU whose node cannot be opened is listed and cannot be asked, as a lost one is. */
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (!initialized)
        return UNINITIALIZED;
    if (index >= (unsigned)count)
        return INVALID_ARGUMENT;
    *device = &gpus[index];
    return code_of(gpus[index].node_error);
}

API int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
    snprintf(name, size, "%s", ((struct gpu *)device)->name);
    return SUCCESS;
}

API int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
    snprintf(uuid, size, "%s", ((struct gpu *)device)->uuid);
    return SUCCESS;
}

API int nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
    *minor = (unsigned)((struct gpu *)device)->minor;
    return SUCCESS;
}

/* "KEY: value" as text: from the driver's information about a GPU, else from the lab's facts about it or about all. */
API int goldnode_device_field(void *device, const char *key, char *value, unsigned size)
{
    char path[512];

    facts_path(device, "information", path, sizeof path);
    if (!read_field(path, key, value, size))
        return SUCCESS;
    facts_path(device, "goldnode", path, sizeof path);
    if (!read_field(path, key, value, size))
        return SUCCESS;
    return read_field(DRIVER_DIR "/goldnode", key, value, size) ? NOT_FOUND : SUCCESS;
}

API int goldnode_device_address(void *device, char *address, unsigned size)
{
    snprintf(address, size, "%s", ((struct gpu *)device)->address);
    return SUCCESS;
}

/* "GI CI MINOR BYTES PROFILE UUID" of the n-th MIG device that this process can open. */
API int goldnode_device_slice(void *device, unsigned index, char *text, unsigned size)
{
    const struct gpu *gpu = device;
    const struct slice *slice = &gpu->slice[index];

    if (index >= (unsigned)gpu->slices)
        return NOT_FOUND;
    snprintf(text, size, "%d %d %d %lld %s %s", slice->gpu_instance, slice->compute_instance, slice->minor, slice->memory,
             slice->profile, slice->uuid);
    return SUCCESS;
}
