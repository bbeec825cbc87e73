// The page's calls of the instance's API.
import type { ApiClient } from '../shared/api.js';
import { RefusedError } from '../shared/api.js';
import type { Asked } from './place.js';
import { filtersOf } from './place.js';

const PAGE_SIZE = '50';

export interface Person {
  id: string;
  email: string;
  givenName: string;
  familyName: string;
  role: string;
}

export interface Account {
  user: Person;
  /** ISO 8601. */
  expiresAt: string;
  expiresInSeconds: number;
  /** The origin of the page that posted the login. */
  hostOrigin: string | null;
}

export interface Workflow {
  id: string;
  name: string;
  active: boolean;
  updatedAt: string;
  canEdit?: boolean;
}

export interface WholeWorkflow extends Workflow {
  createdAt: string;
  projectId: string;
  nodes: { name?: unknown; type?: unknown }[];
  connections: Record<string, unknown>;
}

interface Project {
  type: string;
  name?: string;
}

/** A workflow's project; null if the user may not see it. */
export interface Surroundings {
  project: Project | null;
  editors: Person[] | null;
}

/** There are `count` workflows, or more if `hasMore`. */
export interface Total {
  count: number;
  hasMore: boolean;
}

export interface Page {
  data: Workflow[];
  nextCursor: string | null;
}

export class Instance {
  constructor(readonly api: ApiClient) {}

  readAccount(signal: AbortSignal): Promise<Account> {
    return this.api.get('/rest/me', signal);
  }

  /** @param cursor the start of the page; undefined for the first page */
  readWorkflows(signal: AbortSignal, asked: Asked, cursor?: string): Promise<Page> {
    const parameters = { limit: PAGE_SIZE, sort: asked.sort, ...filtersOf(asked), ...(cursor && { cursor }) };
    return this.api.get(`/api/v1/workflows?${String(new URLSearchParams(parameters))}`, signal);
  }

  countWorkflows(signal: AbortSignal, asked: Asked): Promise<Total> {
    return this.api.get(`/api/v1/workflow-count?${String(new URLSearchParams(filtersOf(asked)))}`, signal);
  }

  readWorkflow(signal: AbortSignal, id: string): Promise<WholeWorkflow> {
    return this.api.get(`/api/v1/workflows/${encodeURIComponent(id)}`, signal);
  }

  async readProject(signal: AbortSignal, id: string): Promise<Surroundings> {
    const path = `/api/v1/projects/${encodeURIComponent(id)}`;
    const [project, members] = await Promise.all([
      optional(this.api.get<Project>(path, signal)),
      optional(this.api.get<{ data: Person[] }>(`${path}/users?limit=250`, signal)),
    ]);
    return { project, editors: members?.data.filter(({ role }) => role !== 'project:viewer') ?? null };
  }

  /** @returns the changed workflow; undefined if the answer has none */
  changeWorkflow(signal: AbortSignal, id: string, active: boolean): Promise<Partial<Workflow> | undefined> {
    const path = `/api/v1/workflows/${encodeURIComponent(id)}/${active ? 'activate' : 'deactivate'}`;
    return this.api.request({ method: 'POST', path }, signal);
  }

  /** @param everywhere ends all sessions that pages of the same host origin have opened for the user */
  signOut(signal: AbortSignal, everywhere: boolean): Promise<void> {
    const path = `/rest/auth/logout${everywhere ? '?everywhere=true' : ''}`;
    return this.api.request({ method: 'POST', path }, signal);
  }
}

async function optional<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RefusedError && error.status !== 401) return null;
    throw error;
  }
}
