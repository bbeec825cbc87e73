// The explanation of a token. Not in the package.
export type { ExplanationRequest, ExplanationRules } from './token-explanation.js';
export type { ExplainedCheck, ExplainedToken, ExplainedUser, TokenExplanation } from './token-explanation.js';
export { TokenExplainer } from './token.explainer.js';
export type { ExplanationSources } from './token.explainer.js';
