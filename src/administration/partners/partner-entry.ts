// The trusted key entry of a new partner, from a few answers. It has no imports, so that pages, commands and tests use the same code.

export type PartnerKeys =
  | {
      readonly type: 'static';
      readonly kid: string;
      readonly algorithms: readonly string[];
      /** PEM. */
      readonly key: string;
    }
  | { readonly type: 'jwks'; readonly url: string };

export interface PartnerAnswers {
  readonly name: string;
  readonly issuer: string;
  readonly emailDomains: readonly string[];
  readonly role: string;
  readonly origins: readonly string[];
  /** External keys of projects that its tokens may name. */
  readonly projects: readonly string[];
  /** Undefined for the longest lifetime that the instance allows. */
  readonly maxTokenTtlSeconds?: number;
  /** The number of seats; undefined if it is not limited. */
  readonly maxUsers?: number;
}

/** The words of a question, for the page and for the command. */
export interface PartnerQuestion {
  readonly label: string;
  readonly about: string;
  /** The recommended answer in the form in which a person types it; undefined if there is none. */
  readonly recommended: string | undefined;
}

export const PARTNER_ROLES = ['global:member', 'global:admin'] as const;

/** The questions about what a partner may do, in their order. */
export const PARTNER_QUESTIONS = {
  role: {
    label: 'Highest role',
    about: 'highest role that its tokens may give to a user',
    recommended: 'global:member',
  },
  projects: {
    label: 'Projects',
    about: 'projects that its tokens may name, by external key, separated by commas; empty for none',
    recommended: '',
  },
  origins: {
    label: 'Origins',
    about: 'origins of its pages with the frame, separated by commas',
    recommended: undefined,
  },
  maxTokenTtl: {
    label: 'Longest lifetime of access tokens',
    about: 'longest lifetime of its access tokens in seconds; empty for as long as the instance allows',
    recommended: '',
  },
  maxUsers: {
    label: 'Seats',
    about: 'number of users that it may have; empty for any number',
    recommended: '',
  },
} as const satisfies Readonly<Record<string, PartnerQuestion>>;

export function recommended(audience: string) {
  return {
    expectedAudience: audience,
    // Sessions have all rights of the role.
    scopes: ['workflow:read', 'workflow:write'],
    // A product's users share addresses, so a limit by address would refuse them.
    perMinute: 600,
    mayExplain: true,
    projects: { roles: ['project:editor', 'project:viewer'], create: true },
  };
}

/**
 * The entry of a partner.
 * @param others the properties that are not asked, such as the recommended ones. `projects` applies if the partner may name some
 */
export function partnerEntry(
  keys: PartnerKeys,
  answers: PartnerAnswers,
  others: Readonly<Record<string, unknown>>,
) {
  const { name, issuer, emailDomains, role, origins, projects } = answers;
  const { maxTokenTtlSeconds, maxUsers } = answers;
  const { type, ...key } = keys;
  const { projects: inProjects, ...rest } = others;
  return {
    ...{ type, name, ...key, issuer },
    ...(origins.length > 0 && { origins }),
    // Under the strict policy, only users with one of these roles may sign in. A user whom a job acts as already has a role.
    ...(others['signInAs'] === undefined && {
      allowedRoles: PARTNER_ROLES.slice(0, PARTNER_ROLES.findIndex((each) => each === role) + 1),
    }),
    ...(emailDomains.length > 0 && { emailDomains }),
    ...rest,
    ...(projects.length > 0 && { projects: { mayAssign: projects, ...(inProjects as object | undefined) } }),
    ...(maxTokenTtlSeconds !== undefined && { maxTokenTtlSeconds }),
    ...(maxUsers !== undefined && { maxUsers }),
  };
}
