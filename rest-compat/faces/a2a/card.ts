import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Door } from '../../door.ts';
import type { Port } from '../../port.ts';
import { priceTerms } from '../price-terms.ts';
import { x402Extensions } from './extension.ts';

/** The endpoint that sells chats to messages. */
export const A2A_PATH = '/a2a-message';

/** Path at which clients of 0.2 and early 0.3 look for the card. Later clients use the path of 1.0 unless configured otherwise. */
export const LEGACY_CARD_PATH = '/.well-known/agent.json';

type CardPort = Pick<Port, 'base_url' | 'signCard'>;

/**
 * The agent card (A2A 1.0 §4.4.1), with a signature over its canonical form (§8.4). Members with default values are left out, as in
 * protobuf, because otherwise no verifier could reproduce the signed bytes. Security schemes, which are optional, are left out too, because
 * the official client loses them when it parses the card before it verifies it.
 */
export function agentCard(doors: readonly Door[], port: CardPort): JsonObject {
  const { url, capabilities, ...about } = cardMembers(doors, port.base_url);
  const supportedInterfaces = ['1.0', '0.3'].map(protocolVersion => ({
    url,
    protocolBinding: BINDING,
    protocolVersion,
  }));
  return attachSignature(
    { ...about, supportedInterfaces, capabilities: { ...capabilities, extendedAgentCard: false } },
    port,
  );
}

/**
 * The card for clients of 0.3 (§5.5), which read one URL at its top level. It is separate, because verifiers that parse a card as protobuf
 * would lose members that 1.0 does not know, and with them the signature.
 */
export function legacyAgentCard(doors: readonly Door[], port: CardPort): JsonObject {
  const { url, capabilities, ...about } = cardMembers(doors, port.base_url);
  const card = {
    ...about,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: BINDING,
    additionalInterfaces: [{ url, transport: BINDING }],
    capabilities: { ...capabilities, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: false,
  };
  return attachSignature(card, port);
}

const BINDING = 'JSONRPC';

const attachSignature = (card: JsonObject, port: CardPort): JsonObject => ({
  ...card,
  signatures: [{ ...port.signCard(card) }],
});

/** Members of both cards. */
function cardMembers(doors: readonly Door[], base_url: string) {
  return {
    name: 'Spend receipt gateway',
    description:
      'Sells chat completions for a fixed price in USDC over x402, each with a signed spend receipt that anyone can verify.',
    version: '1.0.0',
    provider: { url: base_url, organization: 'Spend receipt gateway' },
    documentationUrl: `${base_url}/openapi.json`,
    url: base_url + A2A_PATH,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: x402Extensions.map(({ uri, x402_version }) => ({
        uri,
        description: `x402 payments in the metadata of messages, with offers of x402 version ${x402_version}. Without this extension an unpaid message is answered with HTTP 402.`,
      })),
    },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: doors.flatMap(skill),
  };
}

/** The skill of the endpoint at that path. */
function skill({ path, name, summary, price, tags }: Door): JsonObject[] {
  if (path !== A2A_PATH || price === null) return [];
  return [
    {
      id: name,
      name: 'Chat completion',
      description: `${summary}. ${priceTerms(price).of_each}. The text parts are the prompt. One data part may have further members of a chat request, such as model. Each message is a separate request without history. An API key (X-API-Key) replaces the payment. X-SVC-Session or X-SVC-Payer gives access to your own tasks.`,
      tags: [...tags, 'chat', 'x402'],
      examples: ['What is a spend receipt?'],
    },
  ];
}
