import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { policyKinds } from '../../schema/policy-kinds.ts';
import { ROOT } from '../harness/root.ts';

/* What is specified is either served, or named as not yet here. */

const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
const not_yet = readme.split('## Not yet here\n')[1]?.split('\n## ')[0] ?? '';

/** Each specified path, and how the README would name it as missing. */
const BOOK = '/v1/agents/{agent_id}/book';
const specified: readonly (readonly [path: string, named: string])[] = [
  ...['/v1/chat/completions', '/v1/responses', '/a2a-message', '/task-request', '/task-quote', '/v1/models'],
  ...['/v1/images/generations', '/v1/audio/transcriptions', '/task-status', '/prove-result', '/health', '/stats'],
  ...['/openapi.json', '/receipt/{task_id}', '/receipt/{id}/preimage', '/refusal/{refusal_id}'],
  ...['jwks.json', 'issuer-history.json', 'receipt-policy-history.json', 'revocations', 'x402', 'agent-card.json'].map(
    name => `/.well-known/${name}`,
  ),
  ...['/.well-known/x402list.txt', '/v1/agents/register', BOOK, '/v1/agents/{agent_id}/record', '/v1/book/slice'],
  ...['inflow', 'inflow/correct', 'ingest', 'lineage/{task_id}', 'policy', 'export', 'gaps', 'assign', 'dispute'].map(
    name => `${BOOK}/${name}`,
  ),
  ...['escrow', 'a2a-escrow', 'webhook', 'rotate'].map(name => `${BOOK}/${name}`),
  ...[
    '/v1/sessions/{delegation_hash}',
    '/v1/board/posts',
    '/v1/board/jobs',
    '/v1/router/books',
    '/v1/router/broadcast',
  ],
].map(path => [path, nameOf(path)]);

/** Without what every book has in common, without parameters, and an area by its first two segments. */
function nameOf(path: string): string {
  const area = path.match(/^\/v1\/(sessions|board|router)/);
  if (area) return `\`${area[0]}\``;
  return `\`${path.replace('/v1/agents/{agent_id}/book/', 'book/').replace('/{task_id}', '')}\``;
}

const served = new Set<string>(everyDoor.map(({ path }) => path));

it.each(specified)('%s is served, or the README says that it is not', (path, named) => {
  expect(not_yet.includes(named)).toBe(!served.has(path));
});

it('of the policies none is missing, and the README says of none that it is', () => {
  expect(Object.keys(policyKinds)).toHaveLength(8);
  for (const name of Object.keys(policyKinds)) expect(not_yet, name).not.toContain(`\`${name}\``);
});
