// Saves the matching events as a file in the browser. The instance stores nothing.
import { useState } from 'preact/hooks';
import { BusyButton, News } from '../shared/states.js';
import type { ItemOf } from './api.js';
import { call } from './api.js';
import { Soft } from './parts.js';
import { saveFile } from './save-file.js';
import { problemOf, ProblemPlace, useAttempt } from './states.js';
import { csvOf, jsonLinesOf } from './trail-files.js';
import type { Filters } from './trail-search.js';
import { bodyOf } from './trail-search.js';
import { counted } from './words.js';

type Event = ItemOf<'POST /events/search'>;

const PAGE_SIZE = 100;
/** The maximum number of events in a file. `svc-admin audit export` has no limit. */
const MAX_EXPORTED = 10_000;
export function ExportBar({ filters }: { filters: Filters }) {
  const { isBusy, problem, attempt } = useAttempt();
  const [news, setNews] = useState('');
  const save = (type: 'jsonl' | 'csv') =>
    attempt(async () => {
      const { events, isAll } = await collect(filters);
      saveFile('audit-events', type === 'csv' ? csvOf(events) : jsonLinesOf(events), type);
      setNews(`${counted(events.length, 'event')} saved${isAll ? '' : ', the newest; there are more'}.`);
      if (!isAll)
        throw problemOf(
          `The file contains the newest ${events.length} events. For more, choose a shorter time, or use svc-admin audit export.`,
        );
    });
  return (
    <div class="buttons">
      <Soft>Save what these filters find: </Soft>
      <BusyButton isBusy={isBusy} act={() => void save('jsonl')}>
        JSON lines
      </BusyButton>
      <BusyButton isBusy={isBusy} act={() => void save('csv')}>
        CSV
      </BusyButton>
      <ProblemPlace error={problem} />
      <News text={news} />
    </div>
  );
}

async function collect(filters: Filters): Promise<{ events: Event[]; isAll: boolean }> {
  const events: Event[] = [];
  let cursor: string | undefined;
  do {
    const body = { ...bodyOf(filters), limit: PAGE_SIZE, cursor };
    const page = await call('POST /events/search', { body });
    events.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && events.length < MAX_EXPORTED);
  return { events, isAll: cursor === undefined };
}
