import { expect, it } from 'vitest';
import { jsonLines, reportingFetch } from '../../../gateway/commands/demo/wire.ts';

const ORIGIN = 'http://127.0.0.1:4000';
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');

it('an exchange has method, URL, payment headers as JSON, status and the service’s headers', async () => {
  const exchanges: (readonly string[])[] = [];
  const answer = async () =>
    new Response('{"id":1}', {
      status: 402,
      statusText: 'Payment Required',
      headers: {
        'PAYMENT-REQUIRED': base64({ x402Version: 2, outputSchema: { type: 'object' } }),
        'x-svc-verify-url': `${ORIGIN}/receipt/task_1`,
        date: 'today',
      },
    });
  const reporting = reportingFetch(ORIGIN, exchange => void exchanges.push(exchange), answer);
  const headers = { 'PAYMENT-SIGNATURE': base64({ payload: {} }), authorization: 'Bearer secret' };
  const response = await reporting(`${ORIGIN}/v1/x`, { method: 'POST', headers, body: '"text"' });
  expect(await response.json()).toEqual({ id: 1 });
  await reporting(`${ORIGIN}/v1/y`);
  await reporting('http://127.0.0.1:8545/', { method: 'POST', body: '{}' });
  expect(exchanges).toEqual([
    [
      `> POST ${ORIGIN}/v1/x`,
      '> PAYMENT-SIGNATURE: {',
      '>   "payload": {}',
      '> }',
      '>',
      '> "text"',
      '< 402 Payment Required',
      '< PAYMENT-REQUIRED: {',
      '<   "x402Version": 2,',
      '<   "outputSchema": "…"',
      '< }',
      `< x-svc-verify-url: ${ORIGIN}/receipt/task_1`,
      '<',
      '< {',
      '<   "id": 1',
      '< }',
    ],
    [
      `> GET ${ORIGIN}/v1/y`,
      '< 402 Payment Required',
      '< PAYMENT-REQUIRED: (same as before)',
      `< x-svc-verify-url: ${ORIGIN}/receipt/task_1`,
      '<',
      '< (same as before)',
    ],
  ]);
});

it('JSON has at most 20 lines, and each text at most 100 characters', () => {
  const lines = jsonLines(Array.from({ length: 30 }, () => 'a'.repeat(101)));
  expect(lines).toHaveLength(20);
  expect(lines[1]).toBe(`  "${'a'.repeat(100)}…",`);
  expect(lines.at(-1)).toBe('… 13 more lines');
});
