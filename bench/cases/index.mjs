// All cases, in the order in which they run.
import { exchangeEs256 } from './exchange-es256.mjs';

export const CASES = [exchangeEs256];
