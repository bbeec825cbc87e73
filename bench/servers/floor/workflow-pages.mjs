// Answers a page of workflows by the service's own statements, prepared.
import { createHmac, randomBytes } from 'node:crypto';
import { Client } from 'pg';
// The very statement that the service runs, from its build.
import { workflowPage } from '../../../dist/src/workspace/workflows/workflow-list.query.js';

const CONNECTIONS = 4;
const TAG_BYTES = 16;
const EDITING_ROLES = new Set(['project:admin', 'project:editor']);
const ROLES_STATEMENT =
  'SELECT project_id AS "projectId", role FROM project_member WHERE user_id = $1 AND project_id = ANY($2::uuid[])';

export class WorkflowPages {
  cursorKey = randomBytes(32);
  turn = 0;

  static async connect(databaseUrl) {
    const pages = new WorkflowPages();
    pages.clients = Array.from({ length: CONNECTIONS }, () => new Client({ connectionString: databaseUrl }));
    await Promise.all(pages.clients.map((client) => client.connect()));
    return pages;
  }

  /** The first page of what a member sees. */
  async first(memberId, limit) {
    const client = this.nextClient();
    const query = { memberId, sort: 'id', order: 'asc', limit: limit + 1 };
    const { name, text, values } = workflowPage(query);
    const { rows } = await client.query({ name, text, values: values(query) });
    const shown = rows.slice(0, limit);
    const editable = await editableProjects(client, memberId, shown);
    return {
      data: shown.map((row) => ({ ...row, canEdit: editable.has(row.projectId) })),
      nextCursor: rows.length > limit ? this.cursorAfter(shown.at(-1).id) : null,
    };
  }

  nextClient() {
    this.turn = (this.turn + 1) % this.clients.length;
    return this.clients[this.turn];
  }

  /** Proves, as the service's does, that this server wrote it. */
  cursorAfter(id) {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const tag = createHmac('sha256', this.cursorKey).update('workflows\0').update(bytes).digest();
    return Buffer.concat([bytes, tag.subarray(0, TAG_BYTES)]).toString('base64url');
  }
}

async function editableProjects(client, userId, workflows) {
  const projectIds = [...new Set(workflows.map(({ projectId }) => projectId))];
  const { rows } = await client.query({ name: 'roles', text: ROLES_STATEMENT, values: [userId, projectIds] });
  return new Set(rows.filter(({ role }) => EDITING_ROLES.has(role)).map(({ projectId }) => projectId));
}
