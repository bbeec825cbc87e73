// The first requests for the API's description, which is not made before them.
import { describeOnAnyDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

const AT_ONCE = 10;

describeOnAnyDatabase('the first requests for the description of the API', (database) => {
  const service = TestService.forBlock(database);

  it('get the same whole document and page, although they come at the same moment', async () => {
    const paths = ['/api/v1/openapi.json', '/api/v1/docs'];
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => service.fetch(paths[index % paths.length] ?? '')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
    const [document = '', page = '', ...others] = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(others)).toEqual(new Set([document, page]));
    const { paths: described } = JSON.parse(document) as { paths: Record<string, unknown> };
    expect(Object.keys(described)).toContain('/api/v1/workflows');
    expect(page).toContain('</html>');
  });
});
