import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { BrokenBookNames, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* What these doors answer that is signed, as it looks on the wire. */

const times = {
  activated_at: z.string(),
  retired_at: z.string().optional().describe('When the next one was appended; of the current one it is left out.'),
};
const named = { version: z.int(), hash: z.string(), ...times };
const Jws = z.string().describe('Compact, ES256.');
const Head = z.object({ tree_size: z.int(), root_hash: z.string() });

const HistoryKey = z.object({
  seq: z.int(),
  kid: z.string(),
  ...times,
  revoked: z
    .object({ revoked_at: z.string(), since: z.string(), reason: z.string(), log: Head, jws: Jws })
    .optional()
    .describe('Said by the operator, and signed by a key in force.'),
  jwks: z.object({ keys: z.array(JsonMembers) }),
});

export const IssuerHistoryAnswer = z.object({
  schema: z.literal(documents.issuer_history),
  ...named,
  snapshot: JsonMembers.describe('What `hash` is the SHA-256 of, in canonical form.'),
  keys: z.array(HistoryKey).describe('All up to this version, the oldest first.'),
  issuer_signature: z
    .object({ alg: z.literal('ES256'), kid: z.string(), jws: Jws })
    .describe('Of the key that this version brought, over its hash and time.'),
  snapshots: z.array(z.object(named)).describe('Every version, the oldest first.'),
});

export const PolicyHistoryAnswer = z.object({
  schema: z.literal(documents.receipt_policy_history),
  version: z.int(),
  hash: z.string(),
  policies: z.array(z.object({ ...named, policy: JsonMembers })).describe('Every version, the oldest first.'),
  issuer_signature: z.object({ alg: z.literal('ES256'), jws: Jws }).describe('Over the newest version and its hash.'),
});

const Damaged = z.object({
  level: z.int(),
  index: z.int(),
  computed: z.string().optional(),
  stored: z.string().optional(),
});

const LogBreak = z.object({
  schema: z.literal(documents.log_break),
  log_id: z.int(),
  saved: Head.optional().describe('What was signed; left out where nobody can say.'),
  found: Head.describe('What is left.'),
  anchored: z
    .object({
      ...Head.shape,
      sender: z.string(),
      tx_hash: z.string(),
      block_number: z.int(),
      genesis_hash: z.string(),
    })
    .optional()
    .describe('The newest anchor that binds no longer.'),
  damage: z.array(Damaged).optional().describe('Places that are passed over from then on.'),
  books: BrokenBookNames.optional(),
  credentials_ended: z
    .literal(true)
    .optional()
    .describe(
      'Present if all book sessions, slice tokens, delegated sessions and open approval requests ended with this declaration, and all published exports were withdrawn.',
    ),
  reason: z.string(),
  declared_at: z.string(),
  kid: z.string(),
  jws: Jws,
});

export const LogBreaksAnswer = z.array(LogBreak);

/** As the specifications name them: A2A 1.0 §4.4.1, and 0.3 §5.5. */
const card = {
  name: z.string(),
  description: z.string(),
  version: z.string(),
  provider: z.object({ url: z.string(), organization: z.string() }),
  documentationUrl: z.string(),
  defaultInputModes: z.array(z.string()),
  defaultOutputModes: z.array(z.string()),
  skills: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      tags: z.array(z.string()),
      examples: z.array(z.string()),
    }),
  ),
  signatures: z
    .array(z.object({ protected: z.string(), signature: z.string() }))
    .describe('JWS over all the rest of the card in canonical form.'),
};
const Capabilities = z.object({
  streaming: z.boolean(),
  pushNotifications: z.boolean(),
  extensions: z.array(z.object({ uri: z.string(), description: z.string() })),
});

export const AgentCardAnswer = z.object({
  ...card,
  supportedInterfaces: z.array(z.object({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() })),
  capabilities: Capabilities.extend({ extendedAgentCard: z.boolean() }),
});

export const LegacyAgentCardAnswer = z.object({
  ...card,
  protocolVersion: z.string(),
  url: z.string(),
  preferredTransport: z.string(),
  additionalInterfaces: z.array(z.object({ url: z.string(), transport: z.string() })),
  capabilities: Capabilities.extend({ stateTransitionHistory: z.boolean() }),
  supportsAuthenticatedExtendedCard: z.boolean(),
});

nameComponents({
  IssuerHistory: IssuerHistoryAnswer,
  ReceiptPolicyHistory: PolicyHistoryAnswer,
  LogBreak,
  AgentCard: AgentCardAnswer,
  LegacyAgentCard: LegacyAgentCardAnswer,
});
