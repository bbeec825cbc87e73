// The property of a trusted key entry that lets its partner ask why tokens are refused.
import { flag } from '../trust/entry-kinds.js';

export const EXPLAIN = {
  mayExplain: flag({
    label: 'The partner may ask why its tokens are refused',
    rule: 'the partner may [ask why a token was refused](../endpoints.md#post-restauthexplain)',
    open: false,
    words: (may) => (may === true ? 'may ask why its tokens are refused' : undefined),
  }),
};
