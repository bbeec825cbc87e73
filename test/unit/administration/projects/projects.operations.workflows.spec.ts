// The check of a file of workflows before it is imported.
import { readWorkflowFile } from '../../../../src/administration/projects/projects.operations.js';

const read = (value: unknown) => readWorkflowFile(JSON.stringify(value));

describe('a workflow file', () => {
  it('uses defaults for omitted properties', () => {
    const full = { name: 'b', active: true, nodes: [{ z: 1, a: { b: [null] } }], connections: { x: {} } };
    expect(read([{ name: 'a' }, full])).toEqual({
      workflows: [{ name: 'a', active: false, nodes: [], connections: {} }, full],
      problems: [],
    });
    expect(read([])).toEqual({ workflows: [], problems: [] });
  });

  it('reports all problems at once, by index and property', () => {
    const { workflows, problems } = read([
      { name: 'fine' },
      'text',
      {},
      { name: '', active: 'yes', nodes: {}, connections: [] },
      { name: 'x', nodes: [1], id: 7 },
      { name: 'x\0', nodes: [{ text: '\ud800' }] },
      { name: 'x', active: null },
    ]);
    expect(workflows).toEqual([]);
    expect(problems).toEqual([
      'workflow 1: must be an object',
      'workflow 2, name: is needed',
      'workflow 3, name: must not be empty',
      'workflow 3, active: must be true or false',
      'workflow 3, nodes: must be an array of objects',
      'workflow 3, connections: must be an object',
      'workflow 4, nodes: must be an array of objects',
      'workflow 4, id: is not known',
      'workflow 5, name: has characters that cannot be stored',
      'workflow 5, nodes: has NUL or a lone surrogate, which cannot be stored',
      'workflow 6, active: must be true or false',
    ]);
  });

  it('allows names of up to 128 characters rather than UTF-16 units', () => {
    expect(read([{ name: '\u{1F600}'.repeat(128) }]).problems).toEqual([]);
    expect(read([{ name: 'x'.repeat(129) }]).problems).toHaveLength(1);
  });

  it.each([
    ['no JSON', 'text', 'not valid JSON'],
    ['no array', '{"name":"a"}', 'must be a JSON array of workflows'],
  ])('is refused with %s', (_, text, problem) => {
    expect(readWorkflowFile(text)).toEqual({ workflows: [], problems: [problem] });
  });
});
