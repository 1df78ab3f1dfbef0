/* SPDX-License-Identifier: Apache-2.0 */
/* What a client said: one scheduler_request as plain structs (protocol(7) 2.1 to 2.17). Every text
 * is a slice of the request body or lives in the request's arena; none is NUL-terminated. An absent
 * element leaves the field as `message_init` set it; where absence has a meaning of its own there
 * is a has_ flag. All numbers are finite. */
#ifndef SERVER_PARSE_MESSAGE_H
#define SERVER_PARSE_MESSAGE_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds on lists; what comes after is dropped and counted. Of reports it is as many as a request's
 * budget pays for (walk.c). */
enum {
    MESSAGE_RESULTS_MAX = 10000,
    MESSAGE_OTHER_RESULTS_MAX = 100000,
    MESSAGE_IP_RESULTS_MAX = 100000,
    MESSAGE_FILES_MAX = 100000,
    MESSAGE_APP_VERSIONS_MAX = 10000,
    MESSAGE_PLATFORMS_MAX = 32,
    MESSAGE_COPROCS_MAX = 32,
    MESSAGE_DISTROS_MAX = 32,
    MESSAGE_WSL_GPUS_MAX = 256,
    MESSAGE_OPENCL_CPUS_MAX = 32,
    MESSAGE_TRICKLES_MAX = 10000,
    MESSAGE_RESULT_FILES_MAX = 1000,
    MESSAGE_KEYWORDS_MAX = 1000
};

/* coproc_opencl of a coprocessor, opencl_cpu_info of the CPU. */
struct opencl_properties {
    struct text name, vendor, extensions;
    struct text platform_version, device_version, driver_version;
    double half_fp_config, single_fp_config, double_fp_config;
    double global_mem_size, local_mem_size; /* bytes */
    double max_clock_frequency, max_compute_units;
    double nv_compute_capability_major, nv_compute_capability_minor;
};

/* A platform that offers the CPU as an OpenCL device (protocol(7) 2.7). */
struct opencl_cpu {
    struct text platform_vendor;
    struct opencl_properties opencl;
};

/* One coprocessor type of the host (protocol(7) 2.9). */
struct coproc {
    struct text type;   /* NVIDIA, ATI, intel_gpu, apple_gpu, or the generic name as sent */
    bool is_generic;    /* from <coproc>: the name was chosen by the user */
    struct text name;   /* model */
    double count;       /* instances */
    double req_seconds; /* instance-seconds wanted; raw, may be negative */
    double req_instances;
    bool has_req_instances;
    double estimated_delay; /* s */
    bool has_estimated_delay;
    double peak_flops;    /* of one instance; 0: absent */
    double available_ram; /* bytes; 0: absent */
    bool has_opencl;
    struct opencl_properties opencl;
    /* NVIDIA */
    bool has_cuda;
    int64_t cuda_version, driver_version; /* 1000*major+10*minor, 100*major+minor */
    double total_global_mem;              /* bytes */
    int64_t compute_major, compute_minor;
    double clock_rate, multi_processor_count;
    /* AMD */
    bool has_cal, atirt_detected, amdrt_detected;
    struct text cal_version;
    int64_t cal_target;
    double local_ram; /* MB */
    double engine_clock, wavefront_size, simd_count;
    bool double_precision;
    /* Apple */
    struct text model;
    bool has_metal;
    int64_t metal_support, ncores;
};

/* The program behind docker_version. */
enum docker_type { DOCKER_TYPE_NONE, DOCKER_TYPE_DOCKER, DOCKER_TYPE_PODMAN };

/* A Linux distribution in the subsystem of a Windows host (protocol(7) 2.7). */
struct wsl_distro {
    struct text distro_name, libc_version, docker_version;
    int64_t distro_version, docker_type;
    bool disallowed; /* by its user */
};
/* A GPU that containers of a distribution can use, and by which libraries. */
struct wsl_gpu {
    struct text name;
    size_t distro; /* by index in the message's */
    bool has_cuda, has_opencl;
};

/* A finished job being reported (protocol(7) 2.10). */
struct reported_result {
    struct text name;
    double final_cpu_time;     /* s */
    double final_elapsed_time; /* s; 0: absent (clients before 6.6.16) */
    int64_t exit_status;
    bool has_exit_status;
    int64_t state; /* client state, protocol(7) 5.2 */
    int64_t app_version_num;
    double peak_working_set_size, peak_swap_size, peak_disk_usage; /* bytes */
    struct text stderr_out;                                        /* raw bytes between the tags */
    struct text xml_doc_out; /* raw <file_info> elements, one after the other */
    struct text plan_class, platform;
    int64_t version_num;
};

/* An app version that the client has, in the client's order (protocol(7) 2.13). */
struct client_app_version {
    struct text app_name, platform, plan_class;
    int64_t version_num;
    double avg_ncpus;        /* 1 when absent or not positive */
    double flops;            /* 0: absent */
    struct text coproc_type; /* empty: CPU only; CUDA is read as NVIDIA */
    double coproc_count;
    bool is_placeholder; /* unreadable: keeps the indices right */
};

/* A job of this project on the host that is not being reported (protocol(7) 2.14). */
struct other_result {
    struct text name;
    int64_t app_version; /* index into app_versions, -1: absent */
    struct text plan_class;
    bool has_plan_class;
};

/* A queued or running job of any project (protocol(7) 2.15). */
struct ip_result {
    struct text name;
    double report_deadline; /* epoch */
    bool has_report_deadline;
    double time_remaining; /* s, either spelling; never negative */
    double avg_ncpus;      /* 1 when absent */
    double ncudas, natis, nintel_gpus;
};

struct trickle_up {
    struct text variety;
    struct text result_name;
    struct text xml; /* raw, without the variety line */
};

/* A sticky file on the host (protocol(7) 2.12). */
struct host_file {
    struct text name;
    double nbytes;
    int64_t status; /* 0 not present, 1 present, 2 verification pending, < 0 error */
};

struct message {
    /* Who asks: protocol(7) 2.1. */
    struct text authenticator;
    int64_t hostid, rpc_seqno;
    int64_t client_major, client_minor, client_release;
    double resource_share_fraction, rrs_fraction, prrs_fraction; /* 1 when absent */
    bool has_resource_share_fraction, has_prrs_fraction;
    double duration_correction_factor; /* 0: unknown */
    int64_t allow_multiple_clients;    /* -1: absent */
    int64_t sandbox;                   /* -1: absent */
    bool dont_send_work, dont_use_docker, dont_use_wsl;
    bool client_cap_plan_class;
    struct text code_sign_key; /* trimmed; empty: none */
    struct text cross_project_id;
    struct text client_brand;
    struct text client_opaque; /* raw */
    struct text host_venue;    /* 4.0x only */

    /* protocol(7) 2.2 */
    struct text platforms[MESSAGE_PLATFORMS_MAX]; /* primary first */
    size_t platform_count;
    bool anonymous_platform;

    /* protocol(7) 2.3, in either spelling */
    double work_req_seconds, cpu_req_seconds, cpu_req_instances; /* raw */
    bool has_cpu_req_instances;
    bool has_resource_request; /* any per-resource element (CPU or coprocessor) was there */
    double estimated_delay;    /* s, of the CPUs */

    /* protocol(7) 2.4; raw text between the tags */
    struct text global_preferences;
    bool has_global_preferences;
    struct text working_global_preferences; /* the inner <global_preferences> element's content */
    bool has_working_global_preferences;
    struct text global_prefs_source_email_hash;

    /* protocol(7) 2.5 */
    double on_frac, connected_frac, active_frac, gpu_active_frac;
    bool has_on_frac, has_active_frac, has_gpu_active_frac;
    double cpu_efficiency;
    bool has_cpu_efficiency;
    double total_active_duration, total_gpu_active_duration; /* s */
    bool has_total_active_duration, has_total_gpu_active_duration;

    /* protocol(7) 2.6 */
    double n_bwup, n_bwdown; /* B/s */

    /* protocol(7) 2.7 */
    int64_t timezone;
    struct text domain_name, ip_addr, host_cpid;
    int64_t p_ncpus; /* 1 when absent */
    struct text p_vendor, p_model, p_features;
    double p_fpops, p_iops, p_membw;
    bool p_vm_extensions_disabled;
    double m_nbytes, m_cache, m_swap;
    double d_total, d_free;
    bool has_d_free;
    struct text os_name, os_version, product_name, virtualbox_version, docker_version;

    struct wsl_distro *distros;
    size_t distro_count;
    int64_t docker_type; /* enum docker_type */
    struct wsl_gpu *wsl_gpus;
    size_t wsl_gpu_count;
    struct opencl_cpu *opencl_cpus;
    size_t opencl_cpu_count;

    /* protocol(7) 2.8, bytes; has_ because 0 and absent differ */
    double d_boinc_used_total, d_boinc_used_project, d_project_share;
    bool has_disk_usage;
    double project_disk_usage, total_disk_usage; /* 3.x */
    bool has_total_disk_usage;
    double project_disk_free, potentially_free_offender, potentially_free_self; /* 2004 */
    bool has_project_disk_free, has_potentially_free_offender, has_potentially_free_self;

    /* protocol(7) 2.9 */
    struct coproc *coprocs;
    size_t coproc_count;

    /* Lists; arrays in the arena. */
    struct reported_result *results;
    size_t result_count;
    size_t results_left; /* reported results beyond a bound, which are not in the list */
    struct trickle_up *trickles;
    size_t trickle_count;
    struct host_file *files;
    size_t file_count;
    struct client_app_version *app_versions;
    size_t app_version_count;
    struct other_result *other_results;
    size_t other_result_count;
    bool has_other_results; /* the list was there, maybe empty: a capability of the client */
    bool has_file_list;     /* reply_file_list was there, maybe empty */
    struct ip_result *ip_results;
    size_t ip_result_count;
    bool has_ip_results;
    int64_t *keywords_yes, *keywords_no;
    size_t keyword_yes_count, keyword_no_count;
    struct text time_stats_log; /* raw */

    uint64_t said_digest; /* of the lasting elements (elements.h) as they were sent; never 0 */

    size_t trickles_left;    /* trickles beyond their bound, which are not in the list */
    size_t elements_dropped; /* elements that could not be read; each cost only itself */
};

/* All defaults, nothing said: what a request says that says nothing. */
void message_init(struct message *message);

/* What people call a type of processor: "Intel GPU". Types of other kinds are their own names. */
struct text message_type_name(struct text type);

/* 10000*major + 100*minor + release, as version thresholds are written (protocol(7) 5.1). */
int64_t message_client_version(const struct message *message);

#endif
