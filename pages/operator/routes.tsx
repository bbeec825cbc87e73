// The page's addresses, each with title, marked menu row and view.
import type { ComponentType } from 'preact';
import { AddPartnerView } from './add-partner/add-partner.js';
import { EntriesView } from './entries.js';
import { EntryView } from './entry.js';
import { AnotherKeyView, ChangeEntryView, JsonEntryView } from './entry-change.js';
import { ExplainView } from './explain.js';
import { InstanceView } from './instance.js';
import type { PageProps } from './navigation.js';
import { OverviewView } from './overview.js';
import { PageHead } from './parts.js';
import { RefusalsView } from './refusals.js';
import { RequestView } from './request.js';
import { RevocationsView } from './revocations.js';
import { SessionsView } from './sessions.js';
import { PasswordView } from './sign-in.js';
import { TrailView } from './trail.js';
import { UsageView } from './usage.js';
import { UserView } from './user.js';
import { UsersView } from './users.js';

const ROUTES: readonly [pattern: string, title: string, menuRow: string, View: ComponentType<PageProps>][] = [
  ['', 'Overview', '', OverviewView],
  ['entries', 'Trusted entries', 'entries', EntriesView],
  ['entries/add-partner', 'Add a partner', 'entries', AddPartnerView],
  ['entries/new', 'Add an entry as JSON', 'entries', JsonEntryView],
  ['entries/:entry', 'Trusted entry', 'entries', EntryView],
  ['entries/:entry/change', 'Change a trusted entry', 'entries', ChangeEntryView],
  ['entries/:entry/another-key', 'Add another key', 'entries', AnotherKeyView],
  ['revocations', 'Revocations', 'entries', RevocationsView],
  ['refusals', 'Refusals', 'refusals', RefusalsView],
  ['requests/:requestId', 'Request', 'trail', RequestView],
  ['explain', 'Explain a token', 'explain', ExplainView],
  ['users', 'Users', 'users', UsersView],
  ['users/:userId', 'User', 'users', UserView],
  ['sessions', 'Sessions', 'sessions', SessionsView],
  ['usage', 'Usage', 'usage', UsageView],
  ['trail', 'Audit trail', 'trail', TrailView],
  ['instance', 'Instance', 'instance', InstanceView],
  ['password', 'Change password', '', PasswordView],
];

/** The menu's rows in their order. */
export const MENU = ROUTES.filter(([pattern, , menuRow]) => pattern === menuRow);

export interface Route extends PageProps {
  title: string;
  /** The pattern of the menu row to mark. */
  menuRow: string | null;
  View: ComponentType<PageProps>;
}

/** The view for an unknown address. */
function MissingView() {
  return (
    <>
      <PageHead title="Page not found" lead="The address may be mistyped, or the page has moved." />
      <p>
        <a href="#/">Go to the overview</a>
      </p>
    </>
  );
}

export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const query = new URLSearchParams(search);
  for (const [pattern, title, menuRow, View] of ROUTES) {
    const params = paramsOf(pattern.split('/'), path.split('/'));
    if (params !== undefined) return { title, menuRow, View, params, query };
  }
  return { title: 'Not found', menuRow: null, View: MissingView, params: {}, query };
}

function paramsOf(pattern: string[], parts: string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const name = pattern[index] ?? '';
    if (name.startsWith(':')) params[name.slice(1)] = decoded(part);
    else if (name !== part) return undefined;
  }
  return params;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
