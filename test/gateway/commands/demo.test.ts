import { beforeAll, expect, it } from 'vitest';
import { openAlteringProxy } from '../../harness/altering-proxy.ts';
import { openService, type Service } from '../../harness/doors/open-service.ts';
import { developmentFolder, runNode } from '../../harness/examples.ts';

/* What npm run demo says of a receipt is what it has found out. */

let service: Service;
beforeAll(async () => {
  service = await openService();
});

const JWKS = '/.well-known/jwks.json';

it('does not say that the altered copy is refused where the keys to check it cannot be fetched', async () => {
  let answers_left = 1;
  const url = await openAlteringProxy(service, ({ path, answer: { text } }) => {
    if (path === JWKS) return answers_left-- > 0 ? text : null;
    return text.replaceAll(service.url + JWKS, url + JWKS);
  });
  const DATA_DIR = await developmentFolder({ ...service, url });
  const { code, out, err } = await runNode('gateway/launch.js', ['gateway/commands/demo.ts'], { DATA_DIR });
  expect([code, err]).toEqual([1, expect.stringContaining('fetch failed')]);
  expect(out.trimEnd().split('\n').at(-1)).toBe(
    'Verified the receipt with the published keys: the signature is valid.',
  );
});
