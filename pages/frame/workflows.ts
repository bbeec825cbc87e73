// The workflows that the page has read, and the visitor's actions: search, open, activate, deactivate.
import { computed, signal } from '@preact/signals';
import type { Failure } from '../protocol.js';
import { failureOf, RefusedError } from '../shared/api.js';
import { formatNumber, plainName } from '../shared/format.js';
import { Tasks } from '../shared/tasks.js';
import type { Instance, Surroundings, Total, WholeWorkflow, Workflow } from './instance.js';
import type { Asked, Place } from './place.js';
import { EVERYTHING, fits, isNarrowed, pathOf } from './place.js';
import type { Steps } from './steps.js';
import { words } from './words.js';

/** The time between the last typed letter and the search. */
const TYPING_PAUSE_MS = 250;
const NO_TOTAL: Total = { count: 0, hasMore: false };

/** Why a workflow was not changed. */
export type ChangeProblem = 'changeProblem' | 'changeForbidden' | 'changeGone';
const CHANGE_PROBLEMS: Record<number, ChangeProblem> = { 403: 'changeForbidden', 404: 'changeGone' };

/** The workflow of the detail view. */
export interface Detail {
  id: string;
  /** The properties that are known so far. */
  workflow?: Workflow & Partial<WholeWorkflow>;
  surroundings?: Surroundings;
  failure?: Failure | 'gone';
}

export class Workflows {
  /** The list's filters, loaded or loading. */
  readonly asked = signal(EVERYTHING);
  /** The controls' values, which are ahead of `asked` while the visitor types. */
  readonly choices = signal(EVERYTHING);
  readonly rows = signal<Workflow[]>([]);
  readonly nextCursor = signal<string | null>(null);
  readonly list = signal<'none' | 'loading' | 'ready' | Failure>('none');
  readonly isMoreLoading = signal(false);
  readonly hasMoreProblem = signal(false);
  readonly detail = signal<Detail | null>(null);
  /** The ids of workflows whose change is running. */
  readonly changing = signal<ReadonlySet<string>>(new Set());
  readonly problems = signal<Readonly<Record<string, ChangeProblem>>>({});
  readonly news = signal('');
  /** The workflow that the visitor has just left, or the first new row: it takes the focus. */
  readonly nextFocus = signal<string | null>(null);
  readonly total = computed(() => this.wholeTotal());
  readonly isNarrowed = computed(() => isNarrowed(this.asked.value));
  private readonly counted = signal(NO_TOTAL);
  private readonly tasks = new Tasks();
  private typing: ReturnType<typeof setTimeout> | undefined;

  /** @param noticeEnd receives a request's error, and returns whether it has ended the session */
  constructor(
    private readonly instance: Instance,
    private readonly steps: Steps,
    private readonly noticeEnd: (error: unknown) => boolean,
  ) {}

  /** Loads a place. */
  async begin({ workflow, list }: Place): Promise<void> {
    const whole = workflow === null ? undefined : this.openWorkflow(workflow);
    await Promise.all([this.readList(list), whole]);
  }

  /** Shows the place of the address. */
  follow({ workflow, list }: Place): void {
    if (workflow !== null) return void this.openWorkflow(workflow);
    this.closeWorkflow();
    const isOther = pathOf({ workflow, list }) !== pathOf({ workflow, list: this.asked.value });
    if (isOther || this.list.value === 'none') void this.readList(list);
  }

  /** Loads the list from its beginning. */
  readList(asked: Asked): Promise<void> {
    this.asked.value = asked;
    this.choices.value = asked;
    this.hasMoreProblem.value = false;
    this.list.value = 'loading';
    this.news.value = words().loading;
    return this.tasks.run(
      'list',
      async (signal) => {
        const [page, total] = await Promise.all([
          this.instance.readWorkflows(signal, asked),
          this.instance.countWorkflows(signal, asked),
        ]);
        this.rows.value = page.data;
        this.nextCursor.value = page.nextCursor;
        this.counted.value = total;
        this.list.value = 'ready';
        this.news.value = this.countInWords();
      },
      this.failing((error) => {
        this.clearList();
        this.list.value = failureOf(error);
      }),
    );
  }

  loadMore(): Promise<void> | undefined {
    const cursor = this.nextCursor.value;
    // While another list loads, more of the former one is useless.
    if (this.list.value !== 'ready' || cursor === null) return undefined;
    this.hasMoreProblem.value = false;
    this.isMoreLoading.value = true;
    const reading = this.tasks.run(
      'list',
      async (signal) => {
        const page = await this.instance.readWorkflows(signal, this.asked.value, cursor);
        this.addRows(page.data);
        this.nextCursor.value = page.nextCursor;
        const shown = words().shown(formatNumber(this.rows.value.length));
        this.news.value = `${shown}. ${this.countInWords()}`;
      },
      this.failing(() => (this.hasMoreProblem.value = true)),
    );
    return reading.finally(() => (this.isMoreLoading.value = false));
  }

  /** Searches when the visitor has stopped typing. Filters and sorts at once. */
  ask(change: Partial<Asked>, pauseMs = 'search' in change ? TYPING_PAUSE_MS : 0): void {
    clearTimeout(this.typing);
    this.choices.value = { ...this.choices.value, ...change };
    const read = () => {
      const { search, ...others } = this.choices.value;
      this.steps.replace({ workflow: null, list: { ...others, search: search.trim() } });
      void this.readList(this.steps.place.list);
    };
    if (pauseMs === 0) return read();
    this.typing = setTimeout(read, pauseMs);
  }

  openWorkflow(id: string): Promise<void> {
    clearTimeout(this.typing);
    const known = this.rows.value.find((row) => row.id === id);
    if (this.detail.value?.id !== id) this.detail.value = { id, workflow: known };
    return this.tasks.run(
      'detail',
      async (signal) => {
        const workflow = await this.instance.readWorkflow(signal, id);
        const surroundings = await this.instance.readProject(signal, workflow.projectId);
        this.detail.value = { id, workflow, surroundings };
        this.update(workflow);
      },
      this.failing((error) => {
        const isGone = error instanceof RefusedError && [400, 404].includes(error.status);
        this.detail.value = { id, failure: isGone ? 'gone' : failureOf(error) };
      }),
    );
  }

  private closeWorkflow(): void {
    this.tasks.giveUp('detail');
    this.nextFocus.value = this.detail.value?.id ?? null;
    this.detail.value = null;
  }

  /** Activates or deactivates a workflow. Others may change at the same time. */
  change(workflow: Workflow): Promise<void> | undefined {
    const { id } = workflow;
    if (this.changing.value.has(id)) return undefined;
    this.markChanging(id, true);
    this.setProblem(id, undefined);
    const changing = this.tasks.run(
      `change ${id}`,
      async (signal) => {
        const now = { active: !workflow.active, updatedAt: new Date().toISOString() };
        const changed = {
          ...workflow,
          ...now,
          ...(await this.instance.changeWorkflow(signal, id, now.active)),
        };
        if (fits(this.asked.value, changed.active)) this.update(changed);
        else this.takeOut(id);
        const detail = this.detail.value;
        if (detail?.id === id)
          this.detail.value = { ...detail, workflow: { ...detail.workflow, ...changed } };
        const name = workflowName(changed);
        this.news.value = changed.active ? words().isActive(name) : words().isInactive(name);
      },
      this.failing((error) => {
        const status = error instanceof RefusedError ? error.status : 0;
        this.setProblem(id, CHANGE_PROBLEMS[status] ?? 'changeProblem');
      }),
    );
    return changing.finally(() => this.markChanging(id, false));
  }

  /** Removes all workflows from the view. */
  forget(): void {
    clearTimeout(this.typing);
    this.tasks.giveUpAll();
    this.asked.value = EVERYTHING;
    this.choices.value = EVERYTHING;
    this.detail.value = null;
    this.problems.value = {};
    this.news.value = '';
    this.nextFocus.value = null;
    this.list.value = 'none';
    this.clearList();
  }

  /** Aborts running requests. The view stays. */
  stop(): void {
    clearTimeout(this.typing);
    this.tasks.giveUpAll();
  }

  /** Repeats requests that had no answer. */
  tryAgain(): void {
    if (typeof this.list.value === 'object') void this.readList(this.asked.value);
    const detail = this.detail.value;
    if (typeof detail?.failure === 'object') void this.openWorkflow(detail.id);
  }

  countInWords(): string {
    const { count, hasMore } = this.total.value;
    const { found, foundOver, count: all, countOver } = words();
    const [exact, over] = this.isNarrowed.value ? [found, foundOver] : [all, countOver];
    return (hasMore ? over : exact)(formatNumber(count));
  }

  private wholeTotal(): Total {
    const { count, hasMore } = this.counted.value;
    if (!hasMore) return { count, hasMore };
    return { count: Math.max(count, this.rows.value.length), hasMore: this.nextCursor.value !== null };
  }

  /** A visible row keeps its position, even if the instance's order has changed. */
  private addRows(page: readonly Workflow[]): void {
    const added = page.filter(({ id }) => !this.rows.value.some((row) => row.id === id));
    this.rows.value = [
      ...this.rows.value.map((row) => page.find(({ id }) => id === row.id) ?? row),
      ...added,
    ];
    this.nextFocus.value = added[0]?.id ?? null;
  }

  private update(workflow: Workflow): void {
    this.rows.value = this.rows.value.map((row) => (row.id === workflow.id ? { ...row, ...workflow } : row));
  }

  private takeOut(id: string): void {
    const index = this.rows.value.findIndex((row) => row.id === id);
    if (index < 0) return;
    const next = this.rows.value[index + 1] ?? this.rows.value[index - 1];
    this.rows.value = this.rows.value.filter((row) => row.id !== id);
    this.nextFocus.value = next?.id ?? null;
    const { count, hasMore } = this.counted.value;
    if (!hasMore) this.counted.value = { count: count - 1, hasMore };
  }

  private clearList(): void {
    this.rows.value = [];
    this.nextCursor.value = null;
    this.counted.value = NO_TOTAL;
  }

  private markChanging(id: string, isChanging: boolean): void {
    const ids = new Set(this.changing.value);
    if (isChanging) ids.add(id);
    else ids.delete(id);
    this.changing.value = ids;
  }

  private setProblem(id: string, problem: ChangeProblem | undefined): void {
    const { [id]: _, ...others } = this.problems.value;
    this.problems.value = problem === undefined ? others : { ...others, [id]: problem };
  }

  private failing(fail: (error: unknown) => void): (error: unknown) => void {
    return (error) => void (this.noticeEnd(error) || fail(error));
  }
}

/** A blank name would leave an empty link. */
export function workflowName({ name }: Pick<Workflow, 'name'>): string {
  return plainName(name) || words().unnamed;
}
