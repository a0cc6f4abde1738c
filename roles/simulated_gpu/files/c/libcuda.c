/*
 * A stand-in for libcuda.so.1: the driver API calls that a probe needs, without a GPU.
 *
 * Device memory is host memory behind device addresses that the host cannot follow; a kernel runs on the CPU over
 * what was copied there, so that a wrong copy, size or nonce gives a wrong result, as in life.
 * Codes: documentation of CUresult in cuda.h 13.0.
 * Simpler than the real thing: one primary context, no streams, no asynchronous errors, no compiler (it knows one
 * kernel and refuses all other PTX), and of the environment it honours nothing (CUDA_VISIBLE_DEVICES neither).
 */
#include "gpu.h"
#include <stdint.h>

#define API __attribute__((visibility("default")))
#define ELEMENT sizeof(uint32_t)

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    SYSTEM_NOT_READY = 802,
    SYSTEM_DRIVER_MISMATCH = 803,
    UNKNOWN = 999
};

static const struct {
    CUresult code;
    const char *name, *text;
} ERRORS[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

struct device {
    struct gpu gpu;
    long long free;
};

struct allocation {
    CUdeviceptr base;
    unsigned char *host;
    size_t size;
    int device;
    struct allocation *next;
};

/* A loaded module and its only function. */
struct module {
    const char *entry;
};

static struct device devices[MAX_GPUS];
static int device_count, initialized, current = -1;
static struct allocation *allocations;
static CUdeviceptr next_address = 0x700000000000ULL;
static struct module mix = {"goldnode_mix"};

/* -- initialisation ------------------------------------------------------------------------------------------- */

/* Nodes that are not there: no device. Nodes that may not be opened, or lead elsewhere: unknown error. */
static CUresult open_control_nodes(void)
{
    int error = node_error("nvidiactl", GOLDNODE_MAJOR);
    long long uvm_major = read_number(DRIVER_DIR "/goldnode", "UVM Major", 0);

    if (error)
        return error == ENOENT ? NO_DEVICE : UNKNOWN;
    return node_error("nvidia-uvm", (unsigned)uvm_major) ? UNKNOWN : SUCCESS;
}

static CUresult check_versions(void)
{
    char loaded[TEXT];

    if (loaded_version(loaded, sizeof loaded))
        return NO_DEVICE;
    return strcmp(loaded, DRIVER_VERSION) ? SYSTEM_DRIVER_MISMATCH : SUCCESS;
}

static CUresult open_gpus(void)
{
    struct gpu gpus[MAX_GPUS];
    int index;

    device_count = read_gpus(gpus);
    for (index = 0; index < device_count; index++) {
        if (gpus[index].node_error)
            return UNKNOWN;
        devices[index].gpu = gpus[index];
        /* CUDA enumerates one MIG instance of a GPU (MIG User Guide, "CUDA Device Enumeration"). */
        devices[index].free = gpus[index].slices ? gpus[index].slice[0].memory : gpus[index].memory;
    }
    return device_count ? SUCCESS : NO_DEVICE;
}

static CUresult check_fabric(void)
{
    char state[TEXT];

    if (read_field(DRIVER_DIR "/goldnode", "Fabric", state, sizeof state))
        return SUCCESS;
    return strcmp(state, "In Progress") ? SUCCESS : SYSTEM_NOT_READY;
}

API CUresult cuInit(unsigned flags)
{
    CUresult (*const steps[])(void) = {check_versions, open_control_nodes, open_gpus, check_fabric};
    CUresult result = flags ? INVALID_VALUE : SUCCESS;
    size_t index;

    for (index = 0; !result && index < sizeof steps / sizeof *steps; index++)
        result = steps[index]();
    initialized = !result;
    return result;
}

API CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return INVALID_VALUE;
    *version = CUDA_VERSION;
    return SUCCESS;
}

static CUresult check_device(CUdevice device)
{
    if (!initialized)
        return NOT_INITIALIZED;
    return device < 0 || device >= device_count ? INVALID_DEVICE : SUCCESS;
}

static CUresult check_context(void)
{
    if (!initialized)
        return NOT_INITIALIZED;
    return current < 0 ? INVALID_CONTEXT : SUCCESS;
}

/* -- devices -------------------------------------------------------------------------------------------------- */

API CUresult cuDeviceGetCount(int *count)
{
    if (!initialized)
        return NOT_INITIALIZED;
    *count = device_count;
    return SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return check_device(ordinal);
}

static const struct slice *slice_of(CUdevice device)
{
    return devices[device].gpu.slices ? &devices[device].gpu.slice[0] : NULL;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    CUresult result = check_device(device);
    const struct slice *slice;

    if (result)
        return result;
    slice = slice_of(device);
    snprintf(name, (size_t)size, "%s%s%s", devices[device].gpu.name, slice ? " MIG " : "", slice ? slice->profile : "");
    return SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = check_device(device);

    if (!result)
        *bytes = (size_t)(slice_of(device) ? slice_of(device)->memory : devices[device].gpu.memory);
    return result;
}

/* The 16 bytes behind the dashes of "GPU-…" or "MIG-…". */
static void uuid_bytes(const char *text, unsigned char *out)
{
    int index;
    const char *digit = text + 4;

    for (index = 0; index < 16; index++, digit += 2) {
        char pair[3];
        digit += *digit == '-';
        snprintf(pair, sizeof pair, "%.2s", digit);
        out[index] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

API CUresult cuDeviceGetUuid(unsigned char *uuid, CUdevice device)
{
    CUresult result = check_device(device);

    if (!result)
        uuid_bytes(devices[device].gpu.uuid, uuid);
    return result;
}

/* Differs from the first one only under MIG: the instance's own UUID. */
API CUresult cuDeviceGetUuid_v2(unsigned char *uuid, CUdevice device)
{
    CUresult result = check_device(device);

    if (!result)
        uuid_bytes(slice_of(device) ? slice_of(device)->uuid : devices[device].gpu.uuid, uuid);
    return result;
}

API CUresult cuDeviceGetPCIBusId(char *address, int size, CUdevice device)
{
    CUresult result = check_device(device);

    if (!result)
        snprintf(address, (size_t)size, "%s", devices[device].gpu.address);
    return result;
}

static int compute_capability(CUdevice device, int minor)
{
    char path[512], text[TEXT];
    const char *dot;

    facts_path(&devices[device].gpu, "goldnode", path, sizeof path);
    if (read_field(path, "Compute Capability", text, sizeof text) || !(dot = strchr(text, '.')))
        return 0;
    return (int)strtol(minor ? dot + 1 : text, NULL, 10);
}

static int pci_part(CUdevice device, size_t offset)
{
    return (int)strtol(devices[device].gpu.address + offset, NULL, 16);
}

static int multiprocessors(CUdevice device)
{
    char path[512];
    facts_path(&devices[device].gpu, "goldnode", path, sizeof path);
    return (int)read_number(path, "Multiprocessors", 1);
}

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    CUresult result = check_device(device);

    if (result)
        return result;
    switch (attribute) { /* CUdevice_attribute */
    case 1: *value = 1024; break;                           /* MAX_THREADS_PER_BLOCK */
    case 10: *value = 32; break;                            /* WARP_SIZE */
    case 16: *value = multiprocessors(device); break;       /* MULTIPROCESSOR_COUNT */
    case 33: *value = pci_part(device, 5); break;           /* PCI_BUS_ID */
    case 34: *value = pci_part(device, 8); break;           /* PCI_DEVICE_ID */
    case 50: *value = pci_part(device, 0); break;           /* PCI_DOMAIN_ID */
    case 41: *value = 1; break;                             /* UNIFIED_ADDRESSING */
    case 75: *value = compute_capability(device, 0); break; /* COMPUTE_CAPABILITY_MAJOR */
    case 76: *value = compute_capability(device, 1); break; /* COMPUTE_CAPABILITY_MINOR */
    case 83: *value = 1; break;                             /* MANAGED_MEMORY */
    default: return INVALID_VALUE;
    }
    return SUCCESS;
}

/* -- context -------------------------------------------------------------------------------------------------- */

API CUresult cuDevicePrimaryCtxRetain(void **context, CUdevice device)
{
    CUresult result = check_device(device);

    if (!result)
        *context = &devices[device];
    return result;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return check_device(device);
}

API CUresult cuCtxSetCurrent(void *context)
{
    if (!initialized)
        return NOT_INITIALIZED;
    current = context ? (int)((struct device *)context - devices) : -1;
    return SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
    return check_context();
}

/* -- memory --------------------------------------------------------------------------------------------------- */

static CUresult allocate(CUdeviceptr *address, size_t size, int managed)
{
    CUresult result = check_context();
    struct allocation *new;

    if (result || !size)
        return result ? result : INVALID_VALUE;
    if ((long long)size > devices[current].free || !(new = calloc(1, sizeof *new)) || !(new->host = malloc(size)))
        return OUT_OF_MEMORY;
    new->size = size;
    new->device = current;
    new->base = managed ? (CUdeviceptr)(uintptr_t)new->host : next_address;
    new->next = allocations;
    allocations = new;
    devices[current].free -= (long long)size;
    next_address += (size + 0x1fffff) & ~(CUdeviceptr)0x1fffff; /* allocations start on 2 MiB, as on the real one */
    *address = new->base;
    return SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    return allocate(address, size, 0);
}

API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags)
{
    return flags == 1 || flags == 2 ? allocate(address, size, 1) : INVALID_VALUE; /* ATTACH_GLOBAL, ATTACH_HOST */
}

API CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = check_context();
    struct allocation **link = &allocations, *gone;

    while (*link && (*link)->base != address)
        link = &(*link)->next;
    if (result || !*link)
        return result ? result : INVALID_VALUE;
    gone = *link;
    *link = gone->next;
    devices[gone->device].free += (long long)gone->size;
    free(gone->host);
    free(gone);
    return SUCCESS;
}

API CUresult cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
    CUresult result = check_context();

    (void)flags;
    if (!result && !(*address = malloc(size)))
        return OUT_OF_MEMORY;
    return result;
}

API CUresult cuMemFreeHost(void *address)
{
    free(address);
    return check_context();
}

/* The bytes behind a device address, or NULL where no allocation holds all of them. */
static unsigned char *device_bytes(CUdeviceptr address, size_t size)
{
    struct allocation *each;

    for (each = allocations; each; each = each->next)
        if (address >= each->base && address - each->base <= each->size && size <= each->size - (address - each->base))
            return each->host + (address - each->base);
    return NULL;
}

API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    CUresult result = check_context();
    unsigned char *bytes = device_bytes(to, size);

    if (result || !bytes)
        return result ? result : INVALID_VALUE;
    memcpy(bytes, from, size);
    return SUCCESS;
}

/* A bit of device memory that always reads as one, where the GPU's state names one (`Stuck Bit`: its number in each word). */
static void read_stuck_bit(unsigned char *bytes, size_t size)
{
    char path[512], text[TEXT];
    size_t at, bit;

    facts_path(&devices[current].gpu, "goldnode", path, sizeof path);
    if (read_field(path, "Stuck Bit", text, sizeof text) || !strcmp(text, "None"))
        return;
    bit = strtoul(text, NULL, 10) % (8 * ELEMENT);
    for (at = 0; at + ELEMENT <= size; at += ELEMENT)
        bytes[at + bit / 8] |= (unsigned char)(1u << bit % 8);
}

API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    CUresult result = check_context();
    unsigned char *bytes = device_bytes(from, size);

    if (result || !bytes)
        return result ? result : INVALID_VALUE;
    memcpy(to, bytes, size);
    read_stuck_bit(to, size);
    return SUCCESS;
}

/* -- modules and kernels -------------------------------------------------------------------------------------- */

/* The whole number of hundredths in a "6.0" after a directive; -1 without it. */
static int ptx_version(const char *ptx)
{
    const char *at = strstr(ptx, ".version");
    char *dot;
    long major_part = at ? strtol(at + 8, &dot, 10) : -1;

    return at && *dot == '.' ? (int)(major_part * 10 + strtol(dot + 1, NULL, 10)) : -1;
}

static int ptx_target(const char *ptx)
{
    const char *at = strstr(ptx, ".target");
    const char *name = at ? strstr(at, "sm_") : NULL;

    return name ? (int)strtol(name + 3, NULL, 10) : -1;
}

/* Does ".entry goldnode_mix" take (u64 out, u64 in, u32 nonce, u32 n), and has it a body that returns? */
static int is_mix(const char *ptx)
{
    const char *const types[] = {".u64", ".u64", ".u32", ".u32"};
    const char *at = strstr(ptx, ".entry goldnode_mix");
    const char *end = at ? strchr(at, ')') : NULL;
    size_t index;

    for (index = 0; end && index < sizeof types / sizeof *types; index++) {
        at = strstr(at, ".param");
        if (!at || at > end || strncmp(at + 6 + strspn(at + 6, " \t"), types[index], 4))
            return 0;
        at += 6;
    }
    if (!end || (strstr(at, ".param") && strstr(at, ".param") < end))
        return 0;
    return strchr(end, '{') && strstr(end, "ret;");
}

API CUresult cuModuleLoadData(void **module, const void *image)
{
    CUresult result = check_context();
    int capability;

    if (result)
        return result;
    capability = compute_capability(current, 0) * 10 + compute_capability(current, 1);
    if (ptx_version(image) < 0 || ptx_target(image) < 0 || !is_mix(image))
        return INVALID_PTX;
    if (ptx_version(image) > PTX_VERSION)
        return UNSUPPORTED_PTX_VERSION;
    if (ptx_target(image) > capability)
        return NO_BINARY_FOR_GPU;
    *module = &mix;
    return SUCCESS;
}

API CUresult cuModuleUnload(void *module)
{
    CUresult result = check_context();
    return result ? result : module == &mix ? SUCCESS : INVALID_VALUE;
}

API CUresult cuModuleGetFunction(void **function, void *module, const char *name)
{
    CUresult result = check_context();

    if (result || module != &mix)
        return result ? result : INVALID_VALUE;
    *function = &mix;
    return strcmp(name, mix.entry) ? NOT_FOUND : SUCCESS;
}

static uint32_t mixed(uint32_t value, uint32_t nonce, uint32_t index)
{
    uint32_t turned = value ^ nonce;

    turned = turned << 7 | turned >> 25;
    return turned * 2654435761u + index;
}

/* Every thread of the grid does what its PTX says: nothing beyond n. */
static CUresult run_mix(uint64_t threads, void **parameters)
{
    CUdeviceptr out = *(CUdeviceptr *)parameters[0], in = *(CUdeviceptr *)parameters[1];
    uint32_t nonce = *(uint32_t *)parameters[2], n = *(uint32_t *)parameters[3], index;
    size_t size = (threads < n ? threads : n) * ELEMENT;
    unsigned char *to = device_bytes(out, size), *from = device_bytes(in, size);

    if (!to || !from)
        return ILLEGAL_ADDRESS;
    for (index = 0; index < size / ELEMENT; index++) {
        uint32_t value;
        memcpy(&value, from + index * ELEMENT, ELEMENT);
        value = mixed(value, nonce, index);
        memcpy(to + index * ELEMENT, &value, ELEMENT);
    }
    return SUCCESS;
}

API CUresult cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra)
{
    CUresult result = check_context();

    (void)shared, (void)stream;
    if (result)
        return result;
    if (function != &mix || !parameters || extra || !grid_x || !block_x || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1)
        return INVALID_VALUE;
    if (block_x > 1024)
        return LAUNCH_OUT_OF_RESOURCES;
    return run_mix((uint64_t)grid_x * block_x, parameters);
}

/* -- errors and entry points ---------------------------------------------------------------------------------- */

API CUresult cuGetErrorName(CUresult code, const char **name)
{
    size_t index;

    for (index = 0; index < sizeof ERRORS / sizeof *ERRORS; index++)
        if (ERRORS[index].code == code) {
            *name = ERRORS[index].name;
            return SUCCESS;
        }
    *name = NULL;
    return INVALID_VALUE;
}

API CUresult cuGetErrorString(CUresult code, const char **text)
{
    size_t index;

    for (index = 0; index < sizeof ERRORS / sizeof *ERRORS; index++)
        if (ERRORS[index].code == code) {
            *text = ERRORS[index].text;
            return SUCCESS;
        }
    *text = NULL;
    return INVALID_VALUE;
}

#define ENTRY(name, function) {name, (void *)function}
static const struct {
    const char *name;
    void *function;
} ENTRIES[] = {
    ENTRY("cuInit", cuInit),
    ENTRY("cuDriverGetVersion", cuDriverGetVersion),
    ENTRY("cuDeviceGetCount", cuDeviceGetCount),
    ENTRY("cuDeviceGet", cuDeviceGet),
    ENTRY("cuDeviceGetName", cuDeviceGetName),
    ENTRY("cuDeviceGetUuid", cuDeviceGetUuid_v2),
    ENTRY("cuDeviceGetAttribute", cuDeviceGetAttribute),
    ENTRY("cuDeviceGetPCIBusId", cuDeviceGetPCIBusId),
    ENTRY("cuDeviceTotalMem", cuDeviceTotalMem_v2),
    ENTRY("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain),
    ENTRY("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2),
    ENTRY("cuCtxSetCurrent", cuCtxSetCurrent),
    ENTRY("cuCtxSynchronize", cuCtxSynchronize),
    ENTRY("cuMemAlloc", cuMemAlloc_v2),
    ENTRY("cuMemAllocManaged", cuMemAllocManaged),
    ENTRY("cuMemFree", cuMemFree_v2),
    ENTRY("cuMemHostAlloc", cuMemHostAlloc),
    ENTRY("cuMemFreeHost", cuMemFreeHost),
    ENTRY("cuMemcpyHtoD", cuMemcpyHtoD_v2),
    ENTRY("cuMemcpyDtoH", cuMemcpyDtoH_v2),
    ENTRY("cuModuleLoadData", cuModuleLoadData),
    ENTRY("cuModuleUnload", cuModuleUnload),
    ENTRY("cuModuleGetFunction", cuModuleGetFunction),
    ENTRY("cuLaunchKernel", cuLaunchKernel),
    ENTRY("cuGetErrorName", cuGetErrorName),
    ENTRY("cuGetErrorString", cuGetErrorString),
};

/* An own table in place of dlsym, which would need a newer glibc. */
API CUresult cuGetProcAddress(const char *symbol, void **function, int cuda_version, uint64_t flags)
{
    size_t index;

    (void)flags;
    *function = NULL;
    for (index = 0; index < sizeof ENTRIES / sizeof *ENTRIES; index++)
        if (!strcmp(ENTRIES[index].name, symbol))
            *function = ENTRIES[index].function;
    return *function && cuda_version <= CUDA_VERSION ? SUCCESS : NOT_FOUND;
}

API CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cuda_version, uint64_t flags, int *status)
{
    CUresult result = cuGetProcAddress(symbol, function, cuda_version, flags);

    if (status)
        *status = result ? 1 : 0; /* SYMBOL_NOT_FOUND, SUCCESS */
    return SUCCESS;
}
