import type { webcrypto } from 'node:crypto';
import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { flattenedVerify, importJWK, type JWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { X402, X402_V01 } from '../../harness/a2a/agent.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

let service: Service;
let card: JsonObject;
beforeAll(async () => {
  service = await sharedService();
  card = (await service.get('/.well-known/agent-card.json')).body;
});

/** The issuer's public key with that kid, from the URL that the card names. */
async function keyOf(kid: string, jku?: string) {
  expect(jku).toBe(`${service.url}/.well-known/jwks.json`);
  const { keys } = (await (await fetch(String(jku))).json()) as { keys: JWK[] };
  const key = keys.find(it => it.kid === kid);
  if (!key) throw new Error(`there is no key ${kid}`);
  return (await importJWK(key, 'ES256')) as webcrypto.CryptoKey;
}

describe('GET /.well-known/agent-card.json', () => {
  it('200: its interface points to POST /a2a-message in 1.0, and in 0.3', () => {
    const at = { url: `${service.url}/a2a-message`, protocolBinding: 'JSONRPC' };
    expect(card.supportedInterfaces).toEqual([
      { ...at, protocolVersion: '1.0' },
      { ...at, protocolVersion: '0.3' },
    ]);
    expect(card).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      version: '1.0.0',
      capabilities: { streaming: true, pushNotifications: false, extensions: [{ uri: X402 }, { uri: X402_V01 }] },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [
        {
          id: 'a2a_message',
          name: expect.any(String),
          description: expect.stringContaining('2000'),
          tags: expect.any(Array),
        },
      ],
    });
  });

  it('its signature is the issuer’s, as the official client verifies it, and of nothing else', async () => {
    const verify = verifyAgentCardSignature(keyOf);
    await verify(AgentCard.fromJSON(card));
    await expect(verify(AgentCard.fromJSON({ ...card, name: 'Somebody else' }))).rejects.toThrow();
  });

  it('what is signed is all of the card but its signatures, by RFC 8785, with nothing that protobuf would leave out', () => {
    const { signatures: _, ...signed } = card;
    expect(canonicalizeAgentCard(AgentCard.fromJSON(card))).toBe(canonicalJson(signed));
  });

  it('200 may be kept, and 304 says that it is the same', async () => {
    const first = await service.get('/.well-known/agent-card.json');
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    const etag = first.headers.get('etag') ?? '';
    expect((await service.get('/.well-known/agent-card.json', { 'If-None-Match': etag })).status).toBe(304);
  });
});

describe('GET /.well-known/agent.json', () => {
  let legacy: JsonObject;
  beforeAll(async () => {
    legacy = (await service.get('/.well-known/agent.json')).body;
  });

  it('200: what 0.3 requires of a card, its one URL at the top, and no member of 1.0', () => {
    const url = `${service.url}/a2a-message`;
    expect(legacy).toMatchObject({
      protocolVersion: '0.3.0',
      url,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [{ url, transport: 'JSONRPC' }],
      supportsAuthenticatedExtendedCard: false,
    });
    expect(legacy).not.toHaveProperty('supportedInterfaces');
    expect(legacy.capabilities).not.toHaveProperty('extendedAgentCard');
  });

  it('it says the same of everything else as the card of 1.0', () => {
    for (const member of ['name', 'description', 'version', 'provider', 'documentationUrl', 'skills'])
      expect(legacy[member], member).toEqual(card[member]);
    for (const member of ['streaming', 'pushNotifications', 'extensions'])
      expect((legacy.capabilities as JsonObject)[member], member).toEqual((card.capabilities as JsonObject)[member]);
    for (const member of ['defaultInputModes', 'defaultOutputModes']) expect(legacy[member]).toEqual(card[member]);
  });

  it('it is signed by the issuer over all the rest of it, by RFC 8785', async () => {
    const { signatures, ...signed } = legacy;
    const [made] = signatures as unknown as readonly [{ protected: string; signature: string }];
    const { kid, jku } = JSON.parse(Buffer.from(made.protected, 'base64url').toString());
    const payload = Buffer.from(canonicalJson(signed)).toString('base64url');
    const { payload: read } = await flattenedVerify({ ...made, payload }, await keyOf(kid, jku));
    expect(new TextDecoder().decode(read)).toBe(canonicalJson(signed));
  });
});
