import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Sign1 } from '@auth0/cose';
import { _checkCredential } from '@digitalbazaar/vc';
import { detached, receipt as foreign } from '@transmute/cose';
import { compactVerify, importJWK, type JWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { verifyCredential } from '../../subgraphs/receipt/verify/credential.ts';
import { verifyStatement } from '../../subgraphs/receipt/verify/statement.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { openCheckpoint } from '../harness/log/note.ts';
import { partsOf } from '../harness/receipt/statement-parts.ts';
import { ownFolder } from '../harness/scratch.ts';

const COSE = 'application/scitt-statement+cose';
const VC = 'application/vc+jwt';

let service: Service;
let folder: string;
let many: string;
let svc: ReceiptBody;
let jwks: JsonObject & { readonly keys: readonly JWK[] };
let statement: Uint8Array<ArrayBuffer>;
let credential: string;
beforeAll(async () => {
  const opening = openService({}, { meant: /does not extend what was signed/ });
  [service, folder, many] = await Promise.all([opening, ownFolder(), ownFolder()]);
  const account = await service.chain.newWallet();
  await service.buy(account, ask('One'));
  svc = (await service.buy(account, ask('Two'))).body.svc;
  await service.buy(account, ask('Three'));
  jwks = (await service.get<typeof jwks>('/.well-known/jwks.json')).body;
  statement = await bytesAt('?format=cose');
  credential = textOf(await bytesAt('?format=vc'));
});

const fetchReceipt = (rest: string, accept?: string) =>
  fetch(`${service.url}/receipt/${svc.task_id}${rest}`, accept === undefined ? {} : { headers: { accept } });
const bytesAt = async (rest: string, accept?: string) =>
  new Uint8Array(await (await fetchReceipt(rest, accept)).arrayBuffer());
const keyOf = (kid: unknown) => jwks.keys.find(key => key.kid === kid) ?? {};
const textOf = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString();

describe('GET /receipt/{task_id}?format=cose', () => {
  it('200: a COSE_Sign1 over the payload that the JWS signs, by a library of others', async () => {
    const heard = await fetchReceipt('?format=cose');
    expect([heard.status, heard.headers.get('content-type')]).toEqual([200, COSE]);
    const message = Sign1.decode(new Uint8Array(await heard.arrayBuffer()));
    expect(message.alg).toBe(-7);
    const key = await importJWK(keyOf(textOf(message.kid)), 'ES256');
    await message.verify(key as never);
    const { body: payload } = await service.get(`/receipt/${svc.task_id}/preimage`);
    expect(textOf(message.payload)).toBe(canonicalJson(payload));
    expect(sha256Hex(message.payload)).toBe(svc.payload_hash);
    const header = partsOf(statement).protected_header;
    expect(header.get(3)).toBe('application/json');
    expect(Object.fromEntries(header.get(15) as Map<number, unknown>)).toMatchObject({
      1: service.url,
      2: svc.task_id,
      6: expect.any(Number),
    });
  });

  it('its COSE receipt proves that payload in the log, by a library of others', async () => {
    const [log_receipt, ...more] = await foreign.get(statement.buffer);
    if (log_receipt === undefined) throw new Error('there is no receipt');
    expect(more).toEqual([]);
    const parts = partsOf(new Uint8Array(log_receipt));
    expect([parts.protected_header.get(395), parts.payload]).toEqual([1, null]);
    const resolve = async () => keyOf(textOf(parts.protected_header.get(4))) as { alg: string; kty: string };
    const verifier = detached.verifier({ resolver: { resolve } });
    const proves = async (entry: Uint8Array) =>
      foreign.inclusion.verify({ entry: await foreign.leaf(entry), receipt: log_receipt, verifier });
    const { payload } = partsOf(statement);
    const root = new Uint8Array(await proves(payload ?? new Uint8Array()));
    const size = Number(parts.protected_header.get('tree_size'));
    const [key = ''] = (await service.get<string>('/log/verifier-keys')).body.split('\n');
    const { body } = await service.get<string>(`/log/checkpoint?tree_size=${size}`);
    expect(openCheckpoint(body, key)).toMatchObject({ size, root });
    await expect(proves(Buffer.from('{}'))).rejects.toThrow();
  });

  it('by our verifier, too', async () => {
    expect(verifyStatement(statement, jwks as never)).toMatchObject({
      kind: 'valid',
      payload_hash: svc.payload_hash,
      leaf_index: 1,
      tree_size: 3,
    });
  });

  it('says the same each time while the log stands', async () => {
    expect(await bytesAt('?format=cose')).toEqual(statement);
    expect(textOf(await bytesAt('?format=vc'))).toBe(credential);
  });
});

describe('GET /receipt/{task_id}?format=vc', () => {
  it('200: a credential of the same payload, by a library of others and the keys of did.json', async () => {
    const heard = await fetchReceipt('?format=vc');
    expect([heard.status, heard.headers.get('content-type')]).toEqual([200, VC]);
    const { body: did } = await service.get<{ id: string; verificationMethod: { id: string; publicKeyJwk: JWK }[] }>(
      '/.well-known/did.json',
    );
    const { payload, protectedHeader } = await compactVerify(await heard.text(), async ({ kid }) => {
      const method = did.verificationMethod.find(({ id }) => id === kid);
      if (method === undefined) throw new Error(`${kid} is no key of the issuer`);
      return importJWK(method.publicKeyJwk, 'ES256');
    });
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'vc+jwt', cty: 'vc', iss: did.id });
    const told = JSON.parse(Buffer.from(payload).toString());
    _checkCredential({ credential: told });
    expect(told).toMatchObject({
      id: `${service.url}/receipt/${svc.task_id}`,
      type: ['VerifiableCredential', 'SpendReceiptCredential'],
      issuer: did.id,
      credentialSubject: { task_id: svc.task_id, payload_hash: svc.payload_hash },
    });
    expect(sha256Hex(canonicalJson(told.credentialSubject.payload))).toBe(svc.payload_hash);
    expect(() => _checkCredential({ credential: { ...told, issuer: 'nobody' } })).toThrow(/issuer/);
  });

  it('by our verifier, too', () => {
    expect(verifyCredential(credential, jwks as never)).toMatchObject({
      kind: 'valid',
      payload_hash: svc.payload_hash,
    });
  });
});

describe('which form is shown', () => {
  it.each([
    [COSE, COSE],
    [VC, VC],
    [`${VC};q=0.5, ${COSE}`, COSE],
    [`text/html, ${COSE};q=0.9`, 'text/html; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    [`application/json, ${VC}`, 'application/json; charset=utf-8'],
  ])('Accept: %s', async (accept, media) => {
    const heard = await fetchReceipt('', accept);
    expect([heard.status, heard.headers.get('content-type')]).toEqual([200, media]);
    expect(heard.headers.get('vary')).toContain('accept');
    await heard.arrayBuffer();
  });

  it('.json is JSON whatever is accepted', async () => {
    const heard = await fetchReceipt('.json', COSE);
    expect(heard.headers.get('content-type')).toBe('application/json; charset=utf-8');
    await heard.arrayBuffer();
  });

  it('404 for a task that nobody has, and 400 for a refusal, which is no leaf', async () => {
    for (const format of ['cose', 'vc'])
      expect(await service.get(`/receipt/task_00000000000000000000000000?format=${format}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    expect(await service.get('/refusal/refusal_00000000000000000000000000?format=cose')).toMatchObject({ status: 400 });
  });
});

describe('npm run verify', () => {
  const verifying = async (name: string, bytes: Uint8Array | string) => {
    const [file, keys] = [join(folder, name), join(folder, 'jwks.json')];
    await Promise.all([writeFile(file, bytes), writeFile(keys, JSON.stringify(jwks))]);
    const args = [file, '--jwks', keys];
    return runCommand('gateway/commands/verify.ts', args);
  };

  it('takes a statement and a credential, as they are', async () => {
    const cose = await verifying('receipt.cose', statement);
    expect([cose.code, cose.text]).toEqual([0, expect.stringContaining('In the log: leaf 1 of 3.')]);
    const vc = await verifying('receipt.jwt', credential);
    expect([vc.code, vc.text]).toEqual([0, expect.stringContaining(`payload ${svc.payload_hash}`)]);
  });

  it('takes them from a directory, too', async () => {
    await Promise.all(
      ['receipt.cose', 'receipt.jwt'].map((name, at) => writeFile(join(many, name), at === 0 ? statement : credential)),
    );
    const args = [many, '--jwks', join(folder, 'jwks.json')];
    expect(await runCommand('gateway/commands/verify.ts', args)).toMatchObject({
      code: 0,
      text: expect.stringContaining('2 documents: 2 valid'),
    });
  });

  it('says no to one that was tampered with', async () => {
    const forged = Uint8Array.from(statement);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    const said = await verifying('forged.cose', forged);
    expect([said.code, said.text]).toEqual([1, expect.stringContaining('signature_invalid')]);
  });
});

/** Must be the last test, because a gateway that has found the halt accepts no more payments. */
describe('a log that is halted', () => {
  it('503: no statement, since nothing is stated of the log; a credential says nothing of it', async () => {
    await service.query(`update log_head set halted = '{"known":{},"found":{}}'`);
    try {
      expect(await service.get(`/receipt/${svc.task_id}?format=cose`)).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });
      expect((await fetchReceipt('?format=vc')).status).toBe(200);
    } finally {
      await service.query('update log_head set halted = null');
    }
  });
});
