// Of whose projects the lists are that somebody sees.
import type { Authority } from '../../access/principal.js';
import { grants } from './rights.js';

/** The projects in which all of the given users are members; without any, all projects of the instance. */
export interface MemberScope {
  readonly memberId?: string;
  /** Only beside `memberId`. */
  readonly otherMemberId?: string;
}

/** Members see their projects, administrators and the owner all (D47); of two who are judged, each must see what is shown. */
export function memberScopeOf({ judged }: Authority): MemberScope {
  const members = judged.filter(({ role }) => !grants([role], 'project:read'));
  const [memberId, otherMemberId] = members.map(({ id }) => id);
  return { memberId, otherMemberId };
}
