// What the workspace is told at registration.
import type { LicenseFeature } from '../config/license.js';

export interface WorkspaceOptions {
  /** Whether the licence has the feature now: it may run out while the service runs. */
  readonly isLicensed: (feature: LicenseFeature) => boolean;
}

/** Injection token of the options. */
export const WORKSPACE_OPTIONS = Symbol('WORKSPACE_OPTIONS');
