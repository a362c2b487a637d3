import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import { runCommand } from '../harness/commands/run.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf, type Refusal, type RefusedCallBody } from '../harness/doors/policies.ts';
import { makeScratch } from '../harness/scratch.ts';

let service: Service;
let book: ReturnType<typeof policyDoorsOf>;
beforeAll(async () => {
  service = await sharedService();
  book = policyDoorsOf(service);
});

describe('GET /refusal/{refusal_id}', () => {
  it('200 with what the refused call was told, 404 for an id that nobody has', async () => {
    const { heard } = await book.chatToRefusal(await book.newBlockedAgent());
    const { refusal_id, refusal_url } = heard.body;
    const {
      type: _t,
      title: _i,
      status: _s,
      detail: _d,
      code: _c,
      error: _e,
      ...document
    } = heard.body as RefusedCallBody & JsonObject;
    expect(refusal_url).toBe(`${service.url}/refusal/${refusal_id}`);
    const plain = await service.get<Refusal>(`/refusal/${refusal_id}`);
    expect(plain).toMatchObject({ status: 200, body: document });
    expect((await service.get(`/refusal/${refusal_id}?format=json`)).text).toBe(plain.text);
    expect(await service.get('/refusal/refusal_00000000000000000000000000')).toMatchObject({ status: 404 });
    expect((await service.get(`/refusal/${refusal_id}?format=pdf`)).status).toBe(400);
    const query =
      'query ($id: String!) { refusal(refusalId: $id) { refusalId agentId policyBlockedSeq refusalUrl document } }';
    const { body } = await service.post<{ data: JsonObject }>('/graphql', { query, variables: { id: refusal_id } });
    expect(body.data.refusal).toEqual({
      refusalId: refusal_id,
      agentId: document.agent_id,
      policyBlockedSeq: document.policy_blocked_seq,
      refusalUrl: refusal_url,
      document: plain.body,
    });
  });

  it('verifies offline with the key set and jose alone', async () => {
    const { heard } = await book.chatToRefusal(await book.newBlockedAgent());
    const { body } = await service.get<Refusal>(`/refusal/${heard.body.refusal_id}`);
    const { refusal_url: _u, issuer_signature, verification: _v, ...said } = body;
    const keys = createLocalJWKSet(await service.jwks());
    const { payload } = await jwtVerify(issuer_signature.jws, keys, { algorithms: ['ES256'] });
    const { iss, iat, jti, ...signed } = payload;
    expect(signed).toEqual(said);
    expect({ iss, iat, jti }).toEqual({
      iss: service.url,
      iat: Math.floor(Date.parse(body.timestamp) / 1000),
      jti: body.refusal_id,
    });
  });

  it("verifies by the service's own check, as it was served and as it was told", async () => {
    const { heard } = await book.chatToRefusal(await book.newBlockedAgent());
    const keys = await service.jwks();
    const served = (await service.get<Refusal & JsonObject>(`/refusal/${heard.body.refusal_id}`)).body;
    for (const document of [served, heard.body as RefusedCallBody & JsonObject]) {
      expect(verifyRefusal(document, keys)).toMatchObject({ kind: 'valid' });
    }
    const changes: [JsonObject, string][] = [
      [{ charged: true }, 'copy_mismatch'],
      [{ agent_id: 99 }, 'copy_mismatch'],
      [{ base_anchor: { status: 'UNAVAILABLE' } }, 'copy_mismatch'],
      [{ remark: 'the wallet is bad' }, 'copy_mismatch'],
      [{ refusal_url: 'https://elsewhere.test/refusal/1' }, 'link_foreign'],
      [{ issuer_signature: { ...served.issuer_signature, value: 'AAAA' } }, 'value_invalid'],
      [{ issuer_signature: { ...served.issuer_signature, jws: 'a.b.c' } }, 'malformed'],
    ];
    for (const [change, code] of changes) {
      expect(verifyRefusal({ ...served, ...change }, keys)).toMatchObject({ kind: 'invalid', code });
    }
    expect(verifyRefusal(served, { keys: [] })).toMatchObject({ kind: 'invalid', code: 'signature_invalid' });
    const { jws } = (await service.buy((await service.newAgent()).account)).body.svc.issuer_signature;
    const receipt = { ...served, issuer_signature: { ...served.issuer_signature, jws } };
    expect(verifyRefusal(receipt, keys)).toMatchObject({ kind: 'invalid', code: 'not_a_refusal' });
  });

  it('verifies by npm run verify, from its URL and from a file', async () => {
    const { heard } = await book.chatToRefusal(await book.newBlockedAgent());
    const file = join(await makeScratch(), 'refusal.json');
    expect(await verifyCommand(heard.body.refusal_url)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Valid: ${heard.body.refusal_id}, signed by ${service.url}: kill_switch`),
    });
    await writeFile(file, canonicalJson({ ...(heard.body as RefusedCallBody & JsonObject), agent_id: 99 }));
    expect(await verifyCommand(file)).toMatchObject({ code: 1, out: expect.stringContaining('NOT valid') });
  });
});

const verifyCommand = (source: string) => runCommand('gateway/commands/verify.ts', [source]);
