// Which settings say how much there may be of what users make.
import type { Config } from '../config/load-config.js';
import { VARIABLES } from '../config/environment.js';
import type { QuotaLimits } from '../workspace/quotas/quota.repository.js';

/** The settings that `quotaLimits` reads. */
export const QUOTA_VARIABLES = [
  VARIABLES.maxWorkflowsPerProject,
  VARIABLES.maxCredentialsPerProject,
  VARIABLES.maxMembersPerProject,
  VARIABLES.maxProjectsPerUser,
  VARIABLES.maxBytesPerProject,
];

export function quotaLimits(config: Config): QuotaLimits {
  return {
    workflows: config.maxWorkflowsPerProject,
    credentials: config.maxCredentialsPerProject,
    members: config.maxMembersPerProject,
    projects: config.maxProjectsPerUser,
    bytes: config.maxBytesPerProject,
  };
}
