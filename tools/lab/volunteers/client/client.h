/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of BOINC clients, from 2003 until today, as pure functions of plain structs: no I/O,
 * no clock, and no knowledge of the emulated host that follows them. Each file is one rule of one
 * age.
 *
 * A client answers four questions again and again, and each age of clients answers them its own
 * way:
 * - What do the CPUs and coprocessors run? By debt between projects (debt.h, 2004); by round
 *   robin with deadlines in danger first (schedule.h over the simulation of robin.h, 2006 to
 *   2010).
 * - Which project is asked for work, and for how much? In sessions of several RPCs
 *   (rpc_session.h, 2003); by the time until a project's queue is empty (debt.h, 2004); by the
 *   shortfall that round robin shows (shortfall.h, 2006 to 2008); for each resource (fetch.h over
 *   entitlement.h, from 2009 on); up to two marks of the buffer (marks.h over fetch.h, from 2012
 *   on).
 * - How long will a job take (duration.h)?
 * - Which files have to go when the disk is full (storage.h, 2004)?
 *
 * Times are in seconds, amounts of a resource in seconds of one instance, unless a header says
 * otherwise. Callers own all memory, and nothing here can fail. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_CLIENT_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_CLIENT_H

/* The CPUs of a host are one resource, its coprocessors of each kind another. */
enum { CLIENT_CPU, CLIENT_NVIDIA, CLIENT_ATI, CLIENT_INTEL_GPU, CLIENT_RESOURCES };
/* Kinds of coprocessors alone, counted from 0. */
enum { CLIENT_COPROCS = CLIENT_RESOURCES - 1, CLIENT_NO_COPROC = CLIENT_COPROCS };
enum { CLIENT_PROJECTS_MAX = 64 };

#endif
