import type { webcrypto } from 'node:crypto';
import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { importJWK, type JWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { X402, X402_V01 } from '../../harness/a2a/agent.ts';
import { openService, type Service } from '../../harness/doors/open-service.ts';

let service: Service;
let card: JsonObject;
beforeAll(async () => {
  service = await openService();
  card = (await service.get('/.well-known/agent-card.json')).body;
});

/** The issuer's public keys, by the URL that the card names. */
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
