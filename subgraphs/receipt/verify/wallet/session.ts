import * as z from 'zod';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { type ActMessage, actDigest, revocationDigest } from '../../../../schema/session/act.ts';
import { Grant, grantDigest, Hash32, spelledGrant } from '../../../../schema/session/grant.ts';
import { hasParent } from '../../../../schema/session/grant-rule.ts';
import { hashHex } from '../../../../schema/session/hash.ts';
import { addressOfPublicKey } from '../../../../schema/session/public-key.ts';
import {
  firstDomain,
  type SessionDomain,
  type SessionType,
  sessionDomain,
  sessionTypes,
} from '../../../../schema/session/typed-data.ts';
import { signedAddresses } from '../addresses.ts';
import type { DocumentVerification } from '../report.ts';
import type { Jwks } from '../signature.ts';
import { type Check, judgeBy, malformedDocument, type Rule } from '../signed-document.ts';
import { addressNamed, namelessFault, signerFault } from './signer.ts';

/*
 * Verifies what a payer or the key of a session signs (EIP-712): grants, acts and revocations. A document is typed data with its domain and
 * a signature, the {grant, signature} of X-SVC-Delegation, or a revocation as /.well-known/revocations lists it.
 */

const seconds = z.union([
  z.int().min(0),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);

/** The signed message. Its digest depends on the domain that it was signed for. */
interface Message {
  readonly type: SessionType;
  readonly members: JsonObject;
  /** Signer that the document claims. Null if it names none. */
  readonly signer: string | null;
  digest(domain: SessionDomain): Uint8Array;
}

const Act = z.strictObject({
  delegationHash: Hash32,
  nonce: Hash32,
  action: z.string(),
  resource: z.string(),
  deadline: seconds,
  targetAgent: seconds,
  payloadHash: Hash32,
});
const Revocation = z.strictObject({ delegationHash: Hash32, at: seconds });

const readers: Readonly<Record<SessionType, (message: unknown) => Message | null>> = {
  AuthorizeSession(message) {
    const { data } = Grant.safeParse(message);
    if (data === undefined || addressOfPublicKey(data.agentPubkey) === null) return null;
    const grant = spelledGrant(data);
    // A child is signed by the key of its parent's session, and does not name this key.
    const signer = hasParent(grant) ? null : grant.payer;
    return { type: 'AuthorizeSession', members: { ...grant }, signer, digest: domain => grantDigest(domain, grant) };
  },
  SessionAct(message) {
    const { data } = Act.safeParse(message);
    if (data === undefined) return null;
    const act: ActMessage = {
      delegation_hash: data.delegationHash.toLowerCase(),
      nonce: data.nonce.toLowerCase(),
      action: data.action,
      resource: data.resource,
      deadline: data.deadline,
      target_agent: data.targetAgent,
      payload_hash: data.payloadHash.toLowerCase(),
    };
    return { type: 'SessionAct', members: { ...act }, signer: null, digest: domain => actDigest(domain, act) };
  },
  RevokeSession(message) {
    const { data } = Revocation.safeParse(message);
    if (data === undefined) return null;
    const [delegation_hash, at] = [data.delegationHash.toLowerCase(), data.at];
    const digest = (domain: SessionDomain) => revocationDigest(domain, delegation_hash, at);
    return { type: 'RevokeSession', members: { delegation_hash, at }, signer: null, digest };
  },
};

const isType = (name: Json | undefined): name is SessionType =>
  typeof name === 'string' && Object.hasOwn(sessionTypes, name);

interface FoundTypedData {
  readonly type: SessionType;
  readonly message: Json;
  /** Members of the document from which the message is read. */
  readonly read: readonly string[];
}

/** Finds the message in each of the three forms of a document; null if the document has none of these forms. */
function messageIn(document: JsonObject): FoundTypedData | null {
  const { primaryType, message, grant, delegation_hash, payer, at } = document;
  if (isType(primaryType) && isJsonObject(message))
    return { type: primaryType, message, read: ['primaryType', 'message'] };
  if (isJsonObject(grant) && grant.agentPubkey !== undefined)
    return { type: 'AuthorizeSession', message: grant, read: ['grant'] };
  const listed = typeof delegation_hash === 'string' && payer !== undefined && typeof at === 'number';
  if (!listed || document.signature === undefined) return null;
  return { type: 'RevokeSession', message: { delegationHash: delegation_hash, at }, read: [] };
}

/** Members of a document that name the signer. */
const signerNames: Readonly<Record<SessionType, readonly string[]>> = {
  AuthorizeSession: ['signer', 'address'],
  SessionAct: ['signer', 'address', 'agent_pubkey'],
  RevokeSession: ['signer', 'address', 'payer'],
};

/** Members of a document, besides `delegation_hash`, that repeat the signed message, and the value that each must have. */
const repeated: Readonly<Record<SessionType, Readonly<Record<string, (members: JsonObject) => Json>>>> = {
  AuthorizeSession: {
    payer: ({ payer }) => addressKey(payer),
    agent_pubkey: ({ agentPubkey }) => addressKey(agentPubkey),
  },
  SessionAct: {},
  RevokeSession: { at: ({ at }) => at ?? null },
};

/** One spelling for an address, and for each form of its public key. Any other text is only put in lower case. */
function addressKey(value: Json | undefined): Json {
  return addressNamed(value)?.toLowerCase() ?? (typeof value === 'string' ? value.toLowerCase() : (value ?? null));
}

const isShown = (document: JsonObject, name: string): boolean => (document[name] ?? null) !== null;

const typesOf = {
  AuthorizeSession: 'session_grant',
  SessionAct: 'session_act',
  RevokeSession: 'session_revocation',
} as const;
export type SessionKind = (typeof typesOf)[SessionType];

/** Makes a test of whether a document has the form of this kind: a grant, an act or a revocation of a session. */
export function isSessionKind(kind: SessionKind): (document: JsonObject) => boolean {
  return document => {
    const found = messageIn(document);
    return found !== null && typesOf[found.type] === kind;
  };
}

interface OpenedSession {
  readonly document: JsonObject;
  readonly message: Message;
  readonly read: readonly string[];
  readonly signature: string;
  readonly signer: string | null;
  /** Domains for which the message may have been signed: only one if the document names it. */
  readonly domains: readonly NamedDomain[];
  readonly domain_stated: boolean;
  readonly found: { domain: NamedDomain | null };
}

interface NamedDomain {
  readonly domain: SessionDomain;
  /** Base URL of the service. Null if it is unknown, or if the domain names none (version 1). */
  readonly service: string | null;
}

/**
 * Verifies a grant, an act or a revocation offline, by the address of its signer.
 * @param options `base_url`: base URL of the service that it was signed for; the addresses in the key set are tried as well
 */
export function verifySession(
  document: JsonObject,
  jwks: Jwks,
  { base_url }: { readonly base_url?: string } = {},
): DocumentVerification {
  const named = messageIn(document);
  const message = named && readers[named.type](named.message);
  if (named === null || message === null)
    return malformedDocument('The message does not have the members of its type.');
  const { signature, types, domain } = document;
  if (signature === null) {
    const sentence =
      'This revocation is not signed: the session ended together with all others, when a break of the log was accepted.';
    return { kind: 'invalid', code: 'not_signed', sentence, checks: [] };
  }
  if (typeof signature !== 'string') return malformedDocument('The document has no signature: add it as `signature`.');
  const listed = isJsonObject(types) ? types[message.type] : undefined;
  if (listed !== undefined && canonicalJson(listed) !== canonicalJson(sessionTypes[message.type] as unknown as Json))
    return malformedDocument('types are not the EIP-712 types of sessions.');
  const bases = [...new Set([...(base_url === undefined ? [] : [base_url]), ...(signedAddresses(jwks) ?? [])])];
  const domains = domain === undefined ? domainsOf(bases) : domainIn(domain, bases);
  if (domains === null) return malformedDocument('domain is not an EIP-712 domain of sessions.');
  const stated = signerNames[message.type].map(name => addressNamed(document[name])).find(each => each !== null);
  const opened: OpenedSession = {
    document,
    message,
    read: named.read,
    signature,
    signer: message.signer ?? stated ?? null,
    domains,
    domain_stated: domain !== undefined,
    found: { domain: null },
  };
  const judged = judgeBy(rules, opened);
  if (judged.kind === 'invalid') return judged;
  return { kind: 'valid', checks: judged.checks, ...sessionResult(opened) };
}

const domainsOf = (bases: readonly string[]): readonly NamedDomain[] => [
  ...bases.map(service => ({ domain: sessionDomain(service), service })),
  { domain: firstDomain, service: null },
];

const Domain = z.strictObject({
  name: z.literal(firstDomain.name),
  version: z.enum(['1', '2']),
  chainId: z.union([z.literal(firstDomain.chainId), z.literal(String(firstDomain.chainId)).transform(Number)]),
  salt: Hash32.optional(),
});

function domainIn(stated: Json, bases: readonly string[]): readonly NamedDomain[] | null {
  const { data } = Domain.safeParse(stated);
  if (data === undefined || (data.version === '2') !== (data.salt !== undefined)) return null;
  if (data.salt === undefined) return [{ domain: firstDomain, service: null }];
  const salt = data.salt.toLowerCase() as `0x${string}`;
  const service = bases.find(base => sessionDomain(base).salt === salt) ?? null;
  return [{ domain: { ...sessionDomain(''), salt }, service }];
}

const rules: readonly Rule<OpenedSession>[] = [
  {
    code: 'signer_differs',
    says: 'Every member that names the signer names the same one, and the one in the signed message, if it names one.',
    fault: ({ document, message: { type }, signer }) => {
      const names = signerNames[type].filter(name => isShown(document, name));
      const other = names.find(name => addressKey(document[name]) !== addressKey(signer));
      if (other === undefined) return null;
      return `\`${other}\` is ${shortText(document[other])}, and the signer is ${signer ?? 'not known'}.`;
    },
  },
  {
    code: 'signature_invalid',
    says: 'The key of the signer made the signature (EIP-712).',
    fault: opened => signatureFault(opened),
  },
  {
    code: 'fact_differs',
    says: 'Every member that repeats the signed message has the same value as in the message.',
    fault: opened => {
      const { document, message } = opened;
      const facts: Readonly<Record<string, (members: JsonObject) => Json>> = {
        ...repeated[message.type],
        delegation_hash: () => delegationHashOf(opened),
      };
      const other = Object.entries(facts).find(
        ([name, of]) => isShown(document, name) && addressKey(document[name]) !== of(message.members),
      );
      return other === undefined
        ? null
        : `\`${other[0]}\` is ${shortText(document[other[0]])}, but the signed message has another value.`;
    },
  },
];

const SHOWN_CHARS_MAX = 140;
const shortText = (value: Json | undefined): string => (JSON.stringify(value) ?? '').slice(0, SHOWN_CHARS_MAX);

/** The digest of a grant, under the domain that it was signed for. An act or a revocation names this hash. */
function delegationHashOf({ message, found }: OpenedSession): Json {
  const domain = found.domain?.domain ?? firstDomain;
  if (message.type === 'AuthorizeSession') return hashHex(message.digest(domain));
  return message.members.delegation_hash ?? null;
}

function signatureFault({ message, signature, signer, domains, domain_stated, found }: OpenedSession): Check | null {
  const [first] = domains;
  if (first === undefined) return null;
  if (signer === null) {
    const whom =
      message.type === 'SessionAct'
        ? 'An act is signed by the key of its session (agent_pubkey).'
        : message.type === 'AuthorizeSession'
          ? 'A child is signed by the key of its parent’s session (agentPubkey of the parent’s grant).'
          : 'A revocation is signed by the payer.';
    const known = domain_stated
      ? namelessFault(message.digest(first.domain), signature).sentence
      : 'Give the address as `signer`.';
    return { code: 'needs_signer', sentence: `${whom} ${known}` };
  }
  found.domain = domains.find(({ domain }) => signerFault(message.digest(domain), signature, signer) === null) ?? null;
  if (found.domain !== null) return null;
  if (domain_stated || domains.length > 1) return signerFault(message.digest(first.domain), signature, signer);
  return {
    code: 'needs_service',
    sentence: `The key of ${signer} did not sign this under version 1 of the domain. If it was signed under version 2, give the base URL of its service, or its key set.`,
  };
}

function sessionResult(opened: OpenedSession) {
  const { document, message, signer, found, read } = opened;
  const { domain, service } = found.domain ?? { domain: firstDomain, service: null };
  const { type, members } = message;
  const checked = [...compared, ...read, ...signerNames[type], ...Object.keys(repeated[type])];
  const unsigned = Object.keys(document).filter(name => !checked.includes(name));
  const claims: JsonObject = { ...members, delegation_hash: delegationHashOf(opened), service, signer };
  const unchecked = [
    ...(service === null
      ? [
          domain.version === '1'
            ? 'Which service it is for: version 1 of the domain does not name one.'
            : 'Which service it is for: the salt of the domain is the SHA-256 of the service’s base URL.',
        ]
      : []),
    ...opens[type](message),
  ];
  return { claims, report: { unsigned: { lane: unsigned, unknown: [] }, broken: [], unchecked } };
}

/** Members that are checked in every document of a session. */
const compared = ['domain', 'types', 'signature', 'delegation_hash'];

const opens: Readonly<Record<SessionType, (message: Message) => readonly string[]>> = {
  AuthorizeSession: ({ signer }) => [
    'Whether a payment has bound the session, and whether it was revoked: read GET /v1/sessions/{delegation_hash}.',
    ...(signer === null ? ['Whether the signer is the key of the parent session.'] : []),
  ],
  SessionAct: () => [
    'Whether the signer is the key of that session: compare it with agentPubkey of the grant.',
    'Whether the service accepted it: an act counts once, before its deadline.',
  ],
  RevokeSession: () => ['Whether the signer is the payer of that session, or of a parent session.'],
};
