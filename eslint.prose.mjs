// The words that the project does not use, and the longest sentence: for comments and texts of the code, by ESLint, and for Markdown,
// by scripts/prose.mjs.
import { relative } from 'node:path';

/**
 * What stands for each: the word of the field. Words join the list once the code, or the documents, have none of them left.
 * Texts of the contract are exempt.
 */
const WORDS = [
  { banned: /\bhouses?\b/i, write: 'codebase', in: ['code', 'documents'] },
  { banned: /\bjourneys?\b/i, write: 'request, stages', in: ['code', 'documents'] },
  { banned: /\bfour verbs\b/i, write: 'stages', in: ['code', 'documents'] },
  { banned: /\bconsum(?:es?|ed|ing|ption)\b/i, write: 'use up; replay protection', in: ['code'] },
  { banned: /\bsettl(?:es?|ed|ing|ements?)\b/i, write: 'commit', in: ['documents'] },
  { banned: /\b(?:short|long) way\b/i, write: 'fast path, transaction', in: ['code', 'documents'] },
  { banned: /\bjudg(?:es?|ed|ing|e?ments?)\b/i, write: 'check, validate', in: ['code'] },
  { banned: /\bdoors?\b/i, write: 'entry, limit', in: ['code', 'documents'] },
  { banned: /\bdepartures?\b/i, write: 'graceful shutdown, deviation', in: ['code', 'documents'] },
  { banned: /\bg(?:ive|ives|iven|iving|ave) back\b/i, write: 'refund', in: ['code'] },
  { banned: /\bnewcomers?\b/i, write: 'new user', in: ['code', 'documents'] },
  { banned: /\blanes?\b/i, write: 'in-flight batch, queue', in: ['code', 'documents'] },
  { banned: /\bsights?\b/i, write: 'lookup, result', in: ['code', 'documents'] },
  { banned: /\bwalk(?:s|ed|ing)?\b/i, write: 'evaluation, read', in: ['code'] },
  { banned: /\bof ours\b/i, write: 'of the service, of the instance', in: ['code'] },
  { banned: /\b(?:told|tell(?:s|ing)?)\b/i, write: 'log, record, publish, say', in: ['source'] },
  { banned: /\bnobody\b/i, write: 'no user, no process', in: ['source'] },
  { banned: /\b(?:some|any|every)body\b/i, write: 'user, client, operator', in: ['source'] },
  { banned: /\b(?:who(?:m)?|what)ever\b/i, write: 'the subject of the sentence', in: ['source'] },
  { banned: /(?<!third-|@param )\bpart(?:y|ies)\b/i, write: 'subject and actor', in: ['source'] },
  { banned: /\bgone\b/i, write: 'deleted, revoked, disconnected', in: ['source'] },
  { banned: /\bvouch(?:es|ed|ing)?\b/i, write: 'sign', in: ['source'] },
  { banned: /\bby then\b/i, write: 'before, in time', in: ['source'] },
];

/** @param areas of `source` (the TypeScript of src/), `code` (also tests and scripts) and `documents` */
export function bannedWordsIn(text, ...areas) {
  const prose = text.replace(/`[^`\n]*`/g, '``');
  return WORDS.filter((word) => areas.some((area) => word.in.includes(area))).flatMap(({ banned, write }) => {
    const found = banned.exec(prose);
    return found === null ? [] : [`"${found[0]}": write ${write}`];
  });
}

export const LONGEST_SENTENCE_WORDS = 35;

/** The sentences of a text that are too long, each with its number of words. Code counts as one word. */
export function longSentencesIn(text) {
  const plain = text.replace(/`[^`]*`/g, 'code').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return plain
    .split(/(?<=[.?!])\s+/)
    .map((sentence) => ({ sentence: sentence.trim(), count: sentence.trim().split(/\s+/).length }))
    .filter(({ count }) => count > LONGEST_SENTENCE_WORDS)
    .map(({ sentence, count }) => `a sentence of ${count} words: ${sentence.slice(0, 60)}…`);
}

export const prose = { rules: { words: { create: words }, sentences: { create: sentences } } };

function sentences(context) {
  const { sourceCode } = context;
  return {
    Program: () => {
      for (const { node, text } of paragraphsOf(sourceCode.getAllComments()))
        for (const problem of longSentencesIn(text)) context.report({ node, message: problem });
    },
  };
}

/** Comments, with lines that follow each other as one. A tag of JSDoc begins a sentence, and types within it are none. */
function paragraphsOf(comments) {
  const paragraphs = [];
  for (const comment of comments) {
    const last = paragraphs.at(-1);
    const continues =
      comment.type === 'Line' && last?.node.type === 'Line' && comment.loc.start.line === last.end + 1;
    if (continues) Object.assign(last, { text: `${last.text} ${comment.value}`, end: comment.loc.end.line });
    else paragraphs.push({ node: comment, text: comment.value, end: comment.loc.end.line });
  }
  return paragraphs.map(({ node, text }) => {
    const prose = text
      .replace(/^\s*\*/gm, '')
      .replace(/(@\w+) \{[^}]*\}+/g, '$1')
      .replace(/\s@(?=\w+ )/g, '. @');
    return { node, text: prose };
  });
}

function words(context) {
  const isSource = /^src[/\\].*\.ts$/.test(relative(context.cwd, context.filename));
  const areas = isSource ? ['source', 'code'] : ['code'];
  const check = (node, text) => {
    for (const problem of bannedWordsIn(text, ...areas)) context.report({ node, message: problem });
  };
  const checkText = (node, text) => {
    if (isProse(text)) check(node, text);
  };
  return {
    Program: () => context.sourceCode.getAllComments().forEach((comment) => check(comment, comment.value)),
    Literal: (node) => checkText(node, node.value),
    TemplateElement: (node) => checkText(node, node.value.cooked),
  };
}

/** Three words or more; SQL has lines with capitals, and is none. */
function isProse(text) {
  return (
    typeof text === 'string' && /\w \w+ \w/.test(text) && !/\b(?:SELECT|INSERT|UPDATE|DELETE) /.test(text)
  );
}
