// The people of the demo: who exists in the instance beforehand, and who comes with the partner's tokens.
import type { Members } from './partner.js';

export type GlobalRole = 'global:owner' | 'global:admin' | 'global:member';

/** The roles as people call them. */
export const ROLE_NAMES: Readonly<Record<GlobalRole, string>> = {
  'global:owner': 'Owner',
  'global:admin': 'Administrator',
  'global:member': 'Member',
};

/** A person as the partner company knows them. */
export interface Person {
  /** The partner's own id for the person: the `sub` of tokens. */
  sub: string;
  email: string;
  givenName: string;
  familyName: string;
  role: GlobalRole;
}

export const OWNER: Person = {
  sub: 'not-a-customer',
  email: 'owner@instance.example',
  givenName: 'Olive',
  familyName: 'Tarrant',
  role: 'global:owner',
};

export const ALICE: Person = {
  sub: 'customer-alice',
  email: 'alice@bakery.example',
  givenName: 'Alice',
  familyName: 'Moreau',
  role: 'global:member',
};

/** Acts for customers in delegated calls. */
export const SERVICE_ACCOUNT: Person = {
  sub: 'fernwick-automation',
  email: 'automation@fernwick.example',
  givenName: 'Fernwick',
  familyName: 'Automation',
  role: 'global:member',
};

/** Unknown to the instance until his first embedded login provisions him. */
export const BRUNO: Person = {
  sub: 'customer-bruno',
  email: 'bruno@bakery.example',
  givenName: 'Bruno',
  familyName: 'Adeyemi',
  role: 'global:admin',
};

/** Names of the workflows that are imported for each person before the service starts. */
export const WORKFLOW_NAMES = new Map<Person, string[]>([
  [ALICE, ['Morning order list', 'Thank-you note after delivery']],
  [SERVICE_ACCOUNT, ['Nightly stock sync', 'Invoice hand-over', 'Courier pick-up call']],
  [OWNER, ['Instance backup check']],
]);

/** The partner's claims about a person. Only people who get a role have one. */
export function claimsAbout(person: Person): Members {
  const { sub, email, givenName, familyName } = person;
  return { sub, email, email_verified: true, given_name: givenName, family_name: familyName };
}

/** Workflows of two steps with the given names, in the instance's import format. */
export function workflowsNamed(names: string[]): Members[] {
  return names.map((name, index) => ({
    name,
    active: index === 0,
    nodes: [
      { name: 'Every morning', type: 'schedule', position: [0, 0], parameters: { hour: 6 } },
      { name: 'Send message', type: 'message', position: [220, 0], parameters: { text: name } },
    ],
    connections: { 'Every morning': { main: [[{ node: 'Send message', type: 'main', index: 0 }]] } },
  }));
}
