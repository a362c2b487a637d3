import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { fixtureKeys, keptDocuments, keptNamed } from '../harness/fixtures/signed-documents.ts';
import { ROOT } from '../harness/root.ts';

/* The twelve lines of docs/check.md, over a receipt of each kind. That they run unchanged is in docs.test.ts. */

const page = await readFile(join(ROOT, 'docs/check.md'), 'utf8');
const [, program = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
const lines = program.trimEnd().split('\n');
const body = lines.filter(line => !line.startsWith('import ')).join('\n');
const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => (...args: unknown[]) => Promise<void>;
const verify = new AsyncFunction('createLocalJWKSet', 'jwtVerify', 'isDeepStrictEqual', 'readFile', 'console', body);

async function printed(receipt: JsonObject, keys: JsonObject = fixtureKeys.service): Promise<string> {
  const files: Readonly<Record<string, JsonObject>> = { 'receipt.json': receipt, 'jwks.json': keys };
  const said: string[] = [];
  const read = async (name: string) => JSON.stringify(files[name]);
  await verify(createLocalJWKSet, jwtVerify, isDeepStrictEqual, read, { log: (text: string) => said.push(text) });
  return said.join('\n');
}

const receipts = keptDocuments.filter(({ name }) => name.startsWith('receipt_') && !name.startsWith('receipt_audit'));
const documentOf = (name: string): JsonObject => {
  const { document } = keptNamed(name);
  return isJsonObject(document) ? document : {};
};

describe('the lines that verify a receipt', () => {
  it('are twelve', () => {
    expect(lines).toHaveLength(12);
  });

  it.each(
    receipts.filter(({ kind }) => kind === 'receipt').map(({ name, keys }) => [name, keys ?? 'service'] as const),
  )('hold for %s, and for none of it that was altered', async (name, keys) => {
    const receipt = documentOf(name);
    const said = await printed(receipt, fixtureKeys[keys]);
    const nothing = /api_key|demo_key|hand_off|router|inbound/.test(name);
    expect(said).toMatch(nothing ? /^Nothing was paid to this service\.$/ : / paid \d+ in (base|solana|nano):\w+$/);
    const others: Readonly<Record<string, Json>> = {
      payment_ref: 'base:0x01',
      payer_wallet: '0x01',
      payload_hash: '0',
      claim_id: 99,
      amount: '1',
      caller_binding: { payer_wallet: '0x09' },
      payload: { ...(receipt.payload as JsonObject), hub: 'elsewhere' },
    };
    for (const [member, value] of Object.entries(others))
      await expect(printed({ ...receipt, [member]: value }, fixtureKeys[keys]), member).rejects.toThrow(
        'is not what was signed',
      );
  });

  it('believe no key that was revoked', async () => {
    const revoked = (fixtureKeys.service.keys as readonly JsonObject[]).map(key => ({ ...key, revoked: {} }));
    await expect(printed(documentOf('receipt_payment_base'), { keys: revoked })).rejects.toThrow('no applicable key');
  });
});
