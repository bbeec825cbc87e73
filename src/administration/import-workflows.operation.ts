// Brings workflows into the personal project of a user.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { members, storableText } from './input.js';
import type { ChangeWork } from './operation.js';
import { changeOperation } from './operation.js';
import { QuotaRefusal } from '../workspace/quotas/quotas.js';
import { counted } from '../platform/text/wording.js';
import type { WorkflowDraft } from './workflow-file.js';
import { readWorkflows } from './workflow-file.js';

/** Rows of one statement. The embedded database runs on the main thread, which requests wait for meanwhile. */
const BATCH_SIZE = 25;
/** The command line shows all problems of its file; this limit is for other callers. */
const MOST_PROBLEMS = 10;

const readImport = members({ ownerEmail: storableText, workflows: drafts });

export const IMPORT_WORKFLOWS = changeOperation('workflows import', readImport, {
  async change({ ownerEmail, workflows }, work) {
    const { parts, transaction } = work;
    const owner = await parts.users.findByEmail(ownerEmail, transaction);
    if (owner === undefined) throw new CommandError('There is no user with this e-mail address.');
    const projectId = await parts.projects.personalProjectId(transaction, owner.id);
    try {
      await parts.quotas.within(transaction, { workflows: projectId }, () =>
        insertAll(workflows, projectId, work),
      );
    } catch (error) {
      throw error instanceof QuotaRefusal ? new CommandError(`${error.message}.`) : error;
    }
    return { result: { imported: workflows.length }, things: { userId: owner.id, projectId } };
  },

  command: {
    about: "import workflows into a user's personal project: all of a file, or none",
    example: '--file workflows.json --owner-email user@example.com',
    text: ({ imported }) => `Imported ${counted(imported, 'workflow')}.\n`,
  },
});

function drafts(value: unknown): Read<readonly WorkflowDraft[]> {
  const { workflows, problems } = readWorkflows(value);
  return problems.length === 0 ? { value: workflows } : { rule: problems.slice(0, MOST_PROBLEMS).join('; ') };
}

async function insertAll(
  workflows: readonly WorkflowDraft[],
  projectId: string,
  { parts, transaction }: ChangeWork,
): Promise<void> {
  for (let start = 0; start < workflows.length; start += BATCH_SIZE) {
    const batch = workflows.slice(start, start + BATCH_SIZE);
    await parts.workflows.insert(
      transaction,
      batch.map((draft) => ({ ...draft, projectId })),
    );
    await othersTurn();
  }
}
