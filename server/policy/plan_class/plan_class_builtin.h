/* SPDX-License-Identifier: Apache-2.0 */
/* The plan classes that a project has without a plan_class_spec.xml (policy(7) 4.3). */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_BUILTIN_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_BUILTIN_H

#include "server/base/text.h"
#include "server/policy/plan_class/plan_class.h"

#include <stdbool.h>

struct plan_classes plan_classes_builtin(void);
/* The class that a name stands for; false: none. */
bool plan_class_builtin(struct text name, struct plan_class *ret_class);

#endif
