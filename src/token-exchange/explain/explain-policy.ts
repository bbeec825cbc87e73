// The property of a trusted key entry that lets its partner ask why tokens are refused.
import { flag } from '../trust/entry-kinds.js';

export const EXPLAIN = {
  mayExplain: flag({
    label: 'The partner may ask why its tokens are refused',
    rule: 'the partner may [ask why](../endpoints.md#post-restauthexplain) a token was refused',
    open: false,
    words: (may) => (may === true ? 'may ask why its tokens are refused' : undefined),
  }),
};
