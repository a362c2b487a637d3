import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { BrokenBookNames, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* Signed documents of the discovery endpoints. */

const times = {
  activated_at: z.string().describe('Time from which this version or key applies (RFC 3339, UTC).'),
  retired_at: z
    .string()
    .optional()
    .describe('Time a later version or key replaced this one (RFC 3339, UTC). Absent while it is current.'),
};
const version = z.int().describe('Number of the version, from 1.');
const hash = z.string().describe('SHA-256, in hex, of the document of this version in canonical JSON.');
const versionMembers = { version, hash, ...times };
const kid = z.string().describe('Id of the published key that signed `jws`.');
const Jws = z.string().describe('Signature: a compact JWS (ES256) whose claims are what was signed.');
const Head = z.object({
  tree_size: z.int().describe('Number of leaves (receipts) that the log has at this tree head.'),
  root_hash: z.string().describe('Root hash of the log with these leaves: SHA-256, in hex.'),
});

const HistoryKey = z.object({
  seq: z.int().describe('Number of the version of the issuer history that added the key, from 1.'),
  kid: z.string().describe('Id of the ES256 key (`kid` of its signatures).'),
  ...times,
  revoked: z
    .object({
      revoked_at: z.string().describe('Time the key was declared compromised (RFC 3339, UTC).'),
      since: z.string().describe('Time from which others may have known the private key (RFC 3339, UTC).'),
      reason: z.string().describe('Reason for the revocation, in a sentence.'),
      log: Head.describe(
        'Tree head of the log at `since`. Receipts of this key with a leaf index of `tree_size` or more are invalid.',
      ),
      jws: Jws,
    })
    .optional()
    .describe('Revocation by the operator, signed with an active key. Absent if the key was not revoked.'),
  jwks: z
    .object({ keys: z.array(JsonMembers).describe('Public keys (JWK).') })
    .describe('Public keys that this version added (ES256, Ed25519 and secp256k1), as a JWK Set.'),
});

export const IssuerHistoryAnswer = z.object({
  schema: z.literal(documents.issuer_history),
  ...versionMembers,
  snapshot: JsonMembers.describe('Document whose canonical JSON (RFC 8785) has the SHA-256 `hash`.'),
  keys: z.array(HistoryKey).describe('Keys of the issuer up to this version, oldest first.'),
  issuer_signature: z
    .object({ alg: z.literal('ES256'), kid, jws: Jws })
    .describe('Signature over `hash` and `activated_at` of this version, by the key that it added.'),
  snapshots: z.array(z.object(versionMembers)).describe('All versions, oldest first.'),
});

export const PolicyHistoryAnswer = z.object({
  schema: z.literal(documents.receipt_policy_history),
  version,
  hash,
  policies: z
    .array(
      z.object({
        ...versionMembers,
        policy: JsonMembers.describe('Receipt policy: tolerances, and the meaning of each signed member.'),
      }),
    )
    .describe('All versions, oldest first.'),
  issuer_signature: z
    .object({ alg: z.literal('ES256'), jws: Jws })
    .describe('Signature of the issuer over `version` and `hash`, those of the newest receipt policy.'),
});

const DamagedHash = z.object({
  level: z.int().describe('Level of the hash in the tree. 0: a leaf.'),
  index: z.int().describe('Index of the hash within its level, from 0.'),
  computed: z
    .string()
    .optional()
    .describe(
      'Hash that should be stored, computed from the receipt or the level below (SHA-256, in hex). Absent if it is unknown.',
    ),
  stored: z.string().optional().describe('Hash that is stored (SHA-256, in hex). Absent if none is stored.'),
});

const LogBreak = z.object({
  schema: z.literal(documents.log_break),
  log_id: z.int().describe('Id of the receipt log.'),
  saved: Head.optional().describe(
    'Newest tree head that was known to be signed before the break. Absent if none is known.',
  ),
  found: Head.describe('Tree head of the log that remained after the break.'),
  anchored: z
    .object({
      ...Head.shape,
      sender: z.string().describe('Address on Base that sent the transaction (0x and 40 hex digits).'),
      tx_hash: z.string().describe('Hash of the transaction of the anchor (0x and 64 hex digits).'),
      block_number: z.int().describe('Number of the block on Base that has the anchor.'),
      genesis_hash: z
        .string()
        .describe('Hash of the first block of the chain, which identifies it (0x and 64 hex digits).'),
    })
    .optional()
    .describe(
      'Newest tree head that a transaction on Base recorded (anchor) when the break was declared. The log no longer has to extend it. Absent if none was found.',
    ),
  damage: z
    .array(DamagedHash)
    .optional()
    .describe('Damaged hashes of the tree that are ignored after this declaration. Absent if there are none.'),
  books: BrokenBookNames.optional(),
  credentials_ended: z
    .literal(true)
    .optional()
    .describe(
      'True if this declaration ended all book sessions, tokens of assignments, delegated sessions and open approval requests and withdrew all published exports. Absent otherwise.',
    ),
  reason: z.string().describe('Reason for the break, in the words of the operator.'),
  declared_at: z.string().describe('Time the break was declared (RFC 3339, UTC).'),
  kid,
  jws: Jws,
});

export const LogBreaksAnswer = z.array(LogBreak);

/** Members of both cards: A2A 1.0 §4.4.1, and 0.3 §5.5. */
const card = {
  name: z.string().describe('Name of the agent.'),
  description: z.string().describe('What the agent does, in a sentence.'),
  version: z.string().describe('Version of this service, such as `1.0.0`.'),
  provider: z
    .object({
      url: z.string().describe('Base URL of the service.'),
      organization: z.string().describe('Name of the organization that runs the agent.'),
    })
    .describe('Organization that runs the agent: `{organization, url}`.'),
  documentationUrl: z.string().describe('URL of the OpenAPI document of this service.'),
  defaultInputModes: z.array(z.string()).describe('Media types that the agent accepts.'),
  defaultOutputModes: z.array(z.string()).describe('Media types that the agent returns.'),
  skills: z
    .array(
      z.object({
        id: z.string().describe('Id of the skill: the operationId of its endpoint.'),
        name: z.string().describe('Name of the skill, for people.'),
        description: z.string().describe('What the skill does, and its price.'),
        tags: z.array(z.string()).describe('Keywords by which the skill can be found.'),
        examples: z.array(z.string()).describe('Examples of messages for the skill.'),
      }),
    )
    .describe('What the agent can do: one entry for each skill, with its price and examples.'),
  signatures: z
    .array(
      z.object({
        protected: z.string().describe('Protected header of the JWS (ES256), in base64url.'),
        signature: z.string().describe('Signature of the JWS, in base64url.'),
      }),
    )
    .describe('Signatures (JWS) over the canonical JSON (RFC 8785) of the card without this member.'),
};
const Capabilities = z.object({
  streaming: z.boolean().describe('Whether answers can be streamed.'),
  pushNotifications: z.boolean().describe('Whether push notifications are supported.'),
  extensions: z
    .array(
      z.object({
        uri: z.string().describe('URI that identifies the extension.'),
        description: z.string().describe('How the agent uses the extension.'),
      }),
    )
    .describe('Extensions of A2A that the agent supports.'),
});

export const AgentCardAnswer = z.object({
  ...card,
  supportedInterfaces: z
    .array(
      z.object({
        url: z.string().describe('URL to which calls are sent.'),
        protocolBinding: z.string().describe('Transport, such as `JSONRPC` (JSON-RPC 2.0).'),
        protocolVersion: z.string().describe('Version of the A2A protocol at this URL: `1.0` or `0.3`.'),
      }),
    )
    .describe('Interfaces at which the agent can be called.'),
  capabilities: Capabilities.extend({
    extendedAgentCard: z.boolean().describe('True if authenticated clients can get an extended card.'),
  }).describe('Optional features of A2A that the agent supports.'),
});

export const LegacyAgentCardAnswer = z.object({
  ...card,
  protocolVersion: z.string().describe('Version of the A2A protocol that this card is for.'),
  url: z.string().describe('URL at which the agent can be called.'),
  preferredTransport: z.string().describe('Transport at `url`, such as `JSONRPC`.'),
  additionalInterfaces: z
    .array(
      z.object({
        url: z.string().describe('URL to which calls are sent.'),
        transport: z.string().describe('Transport, such as `JSONRPC` (JSON-RPC 2.0).'),
      }),
    )
    .describe('Interfaces at which the agent can be called.'),
  capabilities: Capabilities.extend({
    stateTransitionHistory: z.boolean().describe('Whether earlier states of a task are returned.'),
  }).describe('Optional features of A2A that the agent supports.'),
  supportsAuthenticatedExtendedCard: z.boolean().describe('True if authenticated clients can get an extended card.'),
});

nameComponents({
  IssuerHistory: IssuerHistoryAnswer,
  ReceiptPolicyHistory: PolicyHistoryAnswer,
  LogBreak,
  AgentCard: AgentCardAnswer,
  LegacyAgentCard: LegacyAgentCardAnswer,
});
