// The list of workflows with search, filter, order and count, and the notices that replace it.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatDate, timeAgo } from '../shared/format.js';
import { BusyButton, Notice, Problem, Skeleton } from '../shared/states.js';
import type { Workflow } from './instance.js';
import type { Model } from './model.js';
import { now } from './model.js';
import { failureNotice } from './notices.js';
import { EVERYTHING, pathOf } from './place.js';
import { words } from './words.js';
import { workflowName } from './workflows.js';

export function ListView({ model, isShown }: { model: Model; isShown: boolean }) {
  const { list, rows } = model.visit.workflows;
  const isFirstLoading = list.value === 'loading' && rows.value.length === 0;
  useScrollKept(isShown);
  return (
    <div id="workflows" hidden={!isShown}>
      <Filters model={model} />
      <Summary model={model} />
      {isFirstLoading && <Skeleton />}
      {rows.value.length > 0 && (
        <ul id="list" class="card list" role="list" aria-busy={list.value === 'loading'}>
          {rows.value.map((workflow) => (
            <Row key={workflow.id} model={model} workflow={workflow} />
          ))}
        </ul>
      )}
      <More model={model} />
      <ListNotice model={model} />
    </div>
  );
}

/** A frame with a fixed height scrolls inside. Restores the list's position when the visitor returns. */
function useScrollKept(isShown: boolean): void {
  const top = useRef(0);
  const wasShown = useRef(isShown);
  if (wasShown.current && !isShown) top.current = scrollY;
  useLayoutEffect(() => {
    if (!wasShown.current && isShown) scrollTo(0, top.current);
    wasShown.current = isShown;
  }, [isShown]);
}

function Filters({ model: { visit } }: { model: Model }) {
  const { workflows } = visit;
  const { search, state, sort } = workflows.choices.value;
  const text = words();
  return (
    <form
      id="filters"
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        workflows.ask({}, 0);
      }}
    >
      <input
        id="search"
        type="search"
        maxLength={128}
        autocomplete="off"
        enterkeyhint="search"
        placeholder={text.search}
        aria-label={text.search}
        value={search}
        onInput={({ currentTarget }) => workflows.ask({ search: currentTarget.value })}
      />
      <Choice
        id="state"
        label={text.state}
        value={state}
        options={{ '': text.allStates, active: text.active, inactive: text.inactive }}
        choose={(chosen) => workflows.ask({ state: chosen })}
      />
      <Choice
        id="sort"
        label={text.sortBy}
        value={sort}
        options={{ updatedAt: text.byChange, name: text.byName }}
        choose={(chosen) => workflows.ask({ sort: chosen })}
      />
    </form>
  );
}

interface ChoiceProps<Value extends string> {
  id: string;
  label: string;
  value: Value;
  options: Record<Value, string>;
  choose: (value: Value) => void;
}

function Choice<Value extends string>({ id, label, value, options, choose }: ChoiceProps<Value>) {
  return (
    <label>
      <span>{label}</span>
      <select id={id} value={value} onChange={({ currentTarget }) => choose(currentTarget.value as Value)}>
        {Object.entries<string>(options).map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Summary({ model: { visit } }: { model: Model }) {
  const { workflows } = visit;
  const isKnown = workflows.list.value === 'ready' || workflows.rows.value.length > 0;
  return (
    <div class="summary">
      <p id="count" class="soft">
        {isKnown && workflows.countInWords()}
      </p>
      <button
        id="refresh"
        type="button"
        class="quiet"
        onClick={() => void workflows.readList(workflows.asked.value)}
      >
        {words().refresh}
      </button>
    </div>
  );
}

function Row({ model, workflow }: { model: Model; workflow: Workflow }) {
  const { workflows } = model.visit;
  const place = { workflow: workflow.id, list: workflows.asked.value };
  const open = (event: MouseEvent) => {
    // The browser opens other tabs and windows by the link's address, which is in the host page.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    model.visit.steps.go(place);
  };
  return (
    <li data-id={workflow.id}>
      <div class="what">
        <a class="name" href={model.addressOf(pathOf(place))} target="_top" onClick={open}>
          <bdi>{workflowName(workflow)}</bdi>
        </a>
        <p class="soft">
          {words().changed} <Moment at={workflow.updatedAt} />
        </p>
      </div>
      <State model={model} workflow={workflow} />
    </li>
  );
}

/** A relative time. The title has the exact time, unless both are shown. */
export function Moment({ at, isAbsolute = false }: { at: string; isAbsolute?: boolean }) {
  const moment = new Date(at);
  // Also updates between two minutes if the value has changed.
  const ago = timeAgo(moment, Math.max(now.value, Date.now())) ?? words().justNow;
  const date = formatDate(moment);
  return (
    <time dateTime={at} title={date}>
      {isAbsolute ? `${date} (${ago})` : ago}
    </time>
  );
}

/** A workflow's state, with a switch for users who may change it. */
export function State({ model, workflow }: { model: Model; workflow: Workflow }) {
  const { workflows } = model.visit;
  const { id, active, canEdit } = workflow;
  const problem = workflows.problems.value[id];
  return (
    <>
      <div class="state-place">
        <span class={active ? 'state active' : 'state'}>{active ? words().active : words().inactive}</span>
        {canEdit === true && (
          <BusyButton
            role="switch"
            class="switch"
            aria-checked={active}
            aria-label={workflowName(workflow)}
            isBusy={workflows.changing.value.has(id)}
            act={() => void workflows.change(workflow)}
          >
            <span />
          </BusyButton>
        )}
      </div>
      <Problem>{problem && words()[problem]}</Problem>
    </>
  );
}

function More({ model: { visit } }: { model: Model }) {
  const { nextCursor, isMoreLoading, hasMoreProblem } = visit.workflows;
  if (nextCursor.value === null) return null;
  return (
    <div id="rest" class="rest">
      <BusyButton id="more" isBusy={isMoreLoading.value} act={() => void visit.workflows.loadMore()}>
        {words().loadMore}
      </BusyButton>
      <Problem>{hasMoreProblem.value && words().moreProblem}</Problem>
    </div>
  );
}

function ListNotice({ model }: { model: Model }) {
  const { workflows } = model.visit;
  const { value: list } = workflows.list;
  const text = words();
  const readAgain = () => void workflows.readList(workflows.asked.value);
  if (typeof list === 'object') return <Notice {...failureNotice(text.failureTitle, list, readAgain)} />;
  if (list !== 'ready' || workflows.rows.value.length > 0) return null;
  if (!workflows.isNarrowed.value) {
    const button = { label: text.lookAgain, act: readAgain };
    return <Notice title={text.emptyTitle} text={text.emptyText} button={button} />;
  }
  const showAll = () => {
    workflows.ask({ ...EVERYTHING, sort: workflows.asked.value.sort }, 0);
    document.getElementById('search')?.focus();
  };
  return (
    <Notice title={text.noneTitle} text={text.noneText} button={{ label: text.clearFilters, act: showAll }} />
  );
}
