import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { BrokenBookNames, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* Signed documents of the discovery endpoints. */

const times = {
  activated_at: z.string().describe('Time from which it applies (RFC 3339, UTC).'),
  retired_at: z.string().optional().describe('Time it was replaced (RFC 3339, UTC). Absent while it is current.'),
};
const version = z.int().describe('Number of the version, from 1.');
const hash = z.string().describe('SHA-256 of the version, in hex.');
const named = { version, hash, ...times };
const kid = z.string().describe('Id of the key that signed.');
const Jws = z.string().describe('Compact JWS (ES256).');
const Head = z.object({
  tree_size: z.int().describe('Number of leaves of the log.'),
  root_hash: z.string().describe('Root hash of the log, in hex.'),
});

const HistoryKey = z.object({
  seq: z.int().describe('Version that added the key.'),
  kid: z.string().describe('Id of the key.'),
  ...times,
  revoked: z
    .object({
      revoked_at: z.string().describe('Time the key was declared compromised (RFC 3339, UTC).'),
      since: z.string().describe('Time from which others may have had the key (RFC 3339, UTC).'),
      reason: z.string().describe('Reason, in a sentence.'),
      log: Head.describe('Tree head at `since`. Receipts of this key beyond it are invalid.'),
      jws: Jws,
    })
    .optional()
    .describe('Revocation by the operator, signed with an active key. Absent if the key was not revoked.'),
  jwks: z
    .object({ keys: z.array(JsonMembers).describe('Public keys (JWK).') })
    .describe('The public key, as a JWK set.'),
});

export const IssuerHistoryAnswer = z.object({
  schema: z.literal(documents.issuer_history),
  ...named,
  snapshot: JsonMembers.describe('Document whose canonical JSON (RFC 8785) has the SHA-256 `hash`.'),
  keys: z.array(HistoryKey).describe('All keys up to this version, oldest first.'),
  issuer_signature: z
    .object({ alg: z.literal('ES256'), kid, jws: Jws })
    .describe('Signature of the key that this version added, over its hash and time.'),
  snapshots: z.array(z.object(named)).describe('All versions, oldest first.'),
});

export const PolicyHistoryAnswer = z.object({
  schema: z.literal(documents.receipt_policy_history),
  version,
  hash,
  policies: z
    .array(z.object({ ...named, policy: JsonMembers.describe('The policy.') }))
    .describe('All versions, oldest first.'),
  issuer_signature: z
    .object({ alg: z.literal('ES256'), jws: Jws })
    .describe('Signature over the newest version and its hash.'),
});

const Damaged = z.object({
  level: z.int().describe('Level of the hash in the tree. 0: a leaf.'),
  index: z.int().describe('Index of the hash in its level, from 0.'),
  computed: z.string().optional().describe('Hash that was computed from the level below. Absent if it is unknown.'),
  stored: z.string().optional().describe('Hash that is stored. Absent if there is none.'),
});

const LogBreak = z.object({
  schema: z.literal(documents.log_break),
  log_id: z.int().describe('Number of the log.'),
  saved: Head.optional().describe('Newest tree head that was signed. Absent if it is unknown.'),
  found: Head.describe('Tree head that remains.'),
  anchored: z
    .object({
      ...Head.shape,
      sender: z.string().describe('Address that sent the anchor.'),
      tx_hash: z.string().describe('Hash of the transaction.'),
      block_number: z.int().describe('Number of the block.'),
      genesis_hash: z.string().describe('Hash of the first block of the chain.'),
    })
    .optional()
    .describe('Newest anchor on Base that no longer binds the log. Absent if there is none.'),
  damage: z
    .array(Damaged)
    .optional()
    .describe('Damaged hashes that are ignored after this declaration. Absent if there are none.'),
  books: BrokenBookNames.optional(),
  credentials_ended: z
    .literal(true)
    .optional()
    .describe(
      'Present if all book sessions, slice tokens, delegated sessions and open approval requests ended with this declaration, and all published exports were withdrawn.',
    ),
  reason: z.string().describe('Reason for the break, in the words of the operator.'),
  declared_at: z.string().describe('Time of the declaration (RFC 3339, UTC).'),
  kid,
  jws: Jws,
});

export const LogBreaksAnswer = z.array(LogBreak);

/** Members of both cards: A2A 1.0 §4.4.1, and 0.3 §5.5. */
const card = {
  name: z.string().describe('Name of the agent.'),
  description: z.string().describe('What the agent does.'),
  version: z.string().describe('Version of the agent.'),
  provider: z
    .object({
      url: z.string().describe('URL of the provider.'),
      organization: z.string().describe('Name of the provider.'),
    })
    .describe('Provider of the agent.'),
  documentationUrl: z.string().describe('URL of the documentation.'),
  defaultInputModes: z.array(z.string()).describe('Media types that the agent accepts.'),
  defaultOutputModes: z.array(z.string()).describe('Media types that the agent returns.'),
  skills: z
    .array(
      z.object({
        id: z.string().describe('Id of the skill.'),
        name: z.string().describe('Name of the skill.'),
        description: z.string().describe('What the skill does, and its price.'),
        tags: z.array(z.string()).describe('Keywords of the skill.'),
        examples: z.array(z.string()).describe('Examples of messages.'),
      }),
    )
    .describe('Skills of the agent.'),
  signatures: z
    .array(
      z.object({
        protected: z.string().describe('Protected header of the JWS, base64url.'),
        signature: z.string().describe('Signature, base64url.'),
      }),
    )
    .describe('Signatures (JWS) over the canonical JSON of the card without this member.'),
};
const Capabilities = z.object({
  streaming: z.boolean().describe('Whether answers can be streamed.'),
  pushNotifications: z.boolean().describe('Whether push notifications are supported.'),
  extensions: z
    .array(
      z.object({
        uri: z.string().describe('URI of the extension.'),
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
        url: z.string().describe('URL of the interface.'),
        protocolBinding: z.string().describe('Transport, such as `JSONRPC`.'),
        protocolVersion: z.string().describe('Version of A2A.'),
      }),
    )
    .describe('Interfaces at which the agent can be called.'),
  capabilities: Capabilities.extend({
    extendedAgentCard: z.boolean().describe('Whether there is an extended card.'),
  }).describe('Optional features of A2A that the agent supports.'),
});

export const LegacyAgentCardAnswer = z.object({
  ...card,
  protocolVersion: z.string().describe('Version of A2A.'),
  url: z.string().describe('URL at which the agent can be called.'),
  preferredTransport: z.string().describe('Transport at `url`, such as `JSONRPC`.'),
  additionalInterfaces: z
    .array(
      z.object({
        url: z.string().describe('URL of the interface.'),
        transport: z.string().describe('Transport, such as `JSONRPC`.'),
      }),
    )
    .describe('Interfaces at which the agent can be called.'),
  capabilities: Capabilities.extend({
    stateTransitionHistory: z.boolean().describe('Whether earlier states of a task are returned.'),
  }).describe('Optional features of A2A that the agent supports.'),
  supportsAuthenticatedExtendedCard: z.boolean().describe('Whether there is an extended card.'),
});

nameComponents({
  IssuerHistory: IssuerHistoryAnswer,
  ReceiptPolicyHistory: PolicyHistoryAnswer,
  LogBreak,
  AgentCard: AgentCardAnswer,
  LegacyAgentCard: LegacyAgentCardAnswer,
});
