// Checks the members of bodies by class-validator, which is loaded with the first body.
import { createRequire } from 'node:module';
import type * as ClassValidator from 'class-validator';
import { DeferredDecorators } from './deferred-decorators.js';

/** The library, class-validator. */
export type Checks = typeof ClassValidator;

const checks = new DeferredDecorators<Checks>();
let library: Checks | undefined;
const require = createRequire(import.meta.url);

/** Gives a property a rule of class-validator. */
export function Checked(choose: (library: Checks) => PropertyDecorator): PropertyDecorator {
  return checks.decorator(choose);
}

/**
 * Loads class-validator, with the rules of all classes in it. It brings the tables of telephone numbers of all countries
 * along, and neither of the two flows of token exchange needs it. It is CommonJS, so it can be had without waiting.
 */
export function loadChecks(): Checks {
  library ??= require('class-validator') as Checks;
  checks.applyTo(library);
  return library;
}
