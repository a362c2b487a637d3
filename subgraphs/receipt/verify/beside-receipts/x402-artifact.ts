import type * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { jwksUri } from '../../../../schema/links.ts';
import { DeliveryFacts, OfferTerms } from '../../../../schema/requests/signed-artifact.ts';
import { offerDigest, receiptDigest } from '../../../../schema/x402-artifacts.ts';
import { isEarly, isLate } from '../key-times.ts';
import type { DocumentVerification } from '../report.ts';
import { type Jwks, keyOfAddress, keysIn, parseJws, recoverSigner, verifyEd25519, verifyEs256 } from '../signature.ts';
import { judgeBy, malformedDocument, type Rule, undatedFault, unless } from '../signed-document.ts';

/*
 * Verifies artifacts of x402's offer-and-receipt extension: the terms of a 402, and the receipt of a paid call. An artifact is typed data
 * (EIP-712) or a JWS. A JWS names its key by a did:web, and the key is also in the key set.
 */

type Kind = 'offer' | 'delivery';

const infoOf = ({ extensions }: JsonObject): JsonObject => {
  const named = isJsonObject(extensions) ? extensions['offer-receipt'] : undefined;
  return isJsonObject(named) && isJsonObject(named.info) ? named.info : {};
};

const isArtifact = ({ format, signature }: JsonObject) =>
  (format === 'eip712' || format === 'jws') && typeof signature === 'string';

/** The signed content of an artifact, not verified. */
function signedPayload({ format, payload, signature }: JsonObject): JsonObject {
  if (format === 'eip712') return isJsonObject(payload) ? payload : {};
  return parseJws(signature)?.claims ?? {};
}

function artifactsIn(document: JsonObject, kind: Kind): readonly JsonObject[] {
  const member = kind === 'offer' ? 'payTo' : 'payer';
  if (isArtifact(document)) return signedPayload(document)[member] === undefined ? [] : [document];
  const { offers, receipt } = infoOf(document);
  if (kind === 'delivery') return isJsonObject(receipt) ? [receipt] : [];
  return Array.isArray(offers) ? offers.filter(isJsonObject) : [];
}

/** Whether a document is a 402 of x402 v2 (PAYMENT-REQUIRED) with signed offers, or one of them. */
export const isOffer = (document: JsonObject) => artifactsIn(document, 'offer').length > 0;

/** Whether a document is the answer to a payment (PAYMENT-RESPONSE) with the shop's signed receipt, or that receipt. */
export const isDelivery = (document: JsonObject) => artifactsIn(document, 'delivery').length > 0;

/** URL of the shop's key set, on the host of the first artifact's resourceUrl; null if there is none. */
export function resourceKeySet(document: JsonObject): string | null {
  const [artifact] = [...artifactsIn(document, 'offer'), ...artifactsIn(document, 'delivery')];
  const url = String(artifact && signedPayload(artifact).resourceUrl);
  return URL.canParse(url) ? jwksUri(new URL(url).origin) : null;
}

interface OpenedArtifact {
  readonly document: JsonObject;
  readonly artifacts: readonly SignedArtifact[];
  readonly jwks: Jwks;
}

interface SignedArtifact {
  /** The signed content. Null if it has the wrong shape. */
  readonly facts: JsonObject | null;
  /** The key of the key set that signed the artifact; null if none did. */
  readonly key: JsonObject | null;
  /** Index in `accepts` that the artifact states. */
  readonly accept_index: Json | undefined;
}

const shapes = { offer: OfferTerms, delivery: DeliveryFacts } as const satisfies Record<Kind, z.ZodType>;

function openArtifacts(document: JsonObject, kind: Kind, jwks: Jwks): OpenedArtifact {
  const artifacts = artifactsIn(document, kind).map((artifact): SignedArtifact => {
    const parsed = shapes[kind].safeParse(signedPayload(artifact));
    const facts = parsed.success ? (parsed.data as JsonObject) : null;
    return { facts, key: facts && signedBy(artifact, kind, facts, jwks), accept_index: artifact.acceptIndex };
  });
  return { document, artifacts, jwks };
}

function signedBy({ format, signature }: JsonObject, kind: Kind, facts: JsonObject, jwks: Jwks): JsonObject | null {
  if (format !== 'eip712' && format !== 'jws') return null;
  if (format === 'eip712') {
    const digest = kind === 'offer' ? offerDigest(facts as never) : receiptDigest(facts as never);
    const address = recoverSigner(digest, signature);
    return address === null ? null : keyOfAddress(jwks, address);
  }
  const jws = parseJws(signature);
  if (jws === null) return null;
  const kid = String(jws.header.kid).split('#')[1] ?? '';
  const value = String(signature).split('.')[2] ?? '';
  const { alg } = jws.header;
  const made =
    alg === 'ES256'
      ? verifyEs256(jwks, kid, jws.input, jws.signature)
      : alg === 'EdDSA' && verifyEd25519(jwks, { alg: 'Ed25519', kid, value }, jws.input);
  return made ? (keysIn(jwks).find(key => key.kid === kid) ?? null) : null;
}

const signatureRule: Rule<OpenedArtifact> = {
  code: 'signature_invalid',
  says: 'A key of the key set made each signature (x402 offer-receipt).',
  fault: ({ artifacts }) =>
    unless(
      artifacts.every(({ key }) => key !== null),
      'No key of the key set made the signature: the document was altered, or another seller signed it.',
    ),
};

/** Verifies the offers of a 402 against a published key set, offline. */
export function verifyOffer(document: JsonObject, jwks: Jwks): DocumentVerification {
  const found = openArtifacts(document, 'offer', jwks);
  const judged = judgeBy(offerRules, found);
  if (judged.kind === 'invalid') return judged;
  const claims = { offers: found.artifacts.map(({ facts }) => facts ?? {}) };
  const lane = isArtifact(document) ? [] : besideIn(document);
  const unchecked = [
    'Whether anyone paid: an offer states only the price.',
    `Whether these keys are those of ${hostsOf(claims.offers)}: its /.well-known/did.json names them.`,
  ];
  const report = { unsigned: { lane, unknown: [] }, broken: [], unchecked };
  return { kind: 'valid', claims, checks: judged.checks, report };
}

const offerRules: readonly Rule<OpenedArtifact>[] = [
  signatureRule,
  {
    code: 'key_revoked',
    says: 'The signing key is not revoked.',
    fault: ({ artifacts, jwks }) =>
      artifacts.map(({ key }) => undatedFault(jwks, key?.kid, undefined)).find(fault => fault !== null) ?? null,
  },
  {
    code: 'terms_differ',
    says: 'Every offer and the resource have the signed values.',
    fault: ({ document, artifacts }) => termsFault(document, artifacts),
  },
];

const terms = ['scheme', 'network', 'asset', 'payTo', 'amount'] as const;

/** The fault of the terms beside the signed offers; null if there is none. A single artifact has no terms beside it. */
function termsFault(document: JsonObject, artifacts: readonly SignedArtifact[]): string | null {
  if (isArtifact(document)) return null;
  const { accepts, resource } = document;
  const url = isJsonObject(resource) ? resource.url : undefined;
  const listed = Array.isArray(accepts) ? accepts : [];
  if (listed.length !== artifacts.length) return 'The number of offers differs from the number of signed offers.';
  for (const { facts, accept_index } of artifacts) {
    const offer = typeof accept_index === 'number' ? listed[accept_index] : undefined;
    if (!isJsonObject(offer)) return 'acceptIndex is not the index of an offer.';
    const other = terms.find(name => offer[name] !== facts?.[name]);
    if (other !== undefined) return `${other} of an offer is not what was signed.`;
    if (url !== undefined && url !== facts?.resourceUrl) return 'resource.url is not what was signed.';
  }
  const named = new Set(artifacts.map(({ accept_index }) => accept_index));
  return unless(named.size === listed.length, 'Two signed offers have the same acceptIndex.');
}

/** Verifies the shop's receipt in a PAYMENT-RESPONSE against a published key set, offline. */
export function verifyDelivery(document: JsonObject, jwks: Jwks): DocumentVerification {
  const found = openArtifacts(document, 'delivery', jwks);
  const judged = judgeBy(deliveryRules, found);
  if (judged.kind === 'invalid') return judged;
  const claims = found.artifacts[0]?.facts;
  if (!claims) return malformedDocument('The document contains no x402 receipt.');
  const unchecked = [
    `Whether USDC moved: look ${String(claims.transaction) || 'the transfer'} up on ${String(claims.network)}.`,
    `Whether these keys are those of ${hostsOf([claims])}: its /.well-known/did.json names them.`,
    'What was bought: see the spend receipt of this service, at the URL in X-SVC-Verify-Url.',
  ];
  const lane = isArtifact(document) ? [] : besideIn(document);
  return {
    kind: 'valid',
    claims,
    checks: judged.checks,
    report: { unsigned: { lane, unknown: [] }, broken: [], unchecked },
  };
}

const deliveryRules: readonly Rule<OpenedArtifact>[] = [
  signatureRule,
  {
    code: 'key_not_in_force',
    says: 'The receipt was signed while its key was active, and the key is not revoked.',
    fault: ({ artifacts: [artifact], jwks }) => {
      const at = artifact?.facts?.issuedAt ?? null;
      const kid = artifact?.key?.kid;
      if (isEarly(jwks, kid, { iat: at }) || isLate(jwks, kid, { iat: at }))
        return 'The receipt was signed while its key was not active.';
      return undatedFault(jwks, kid, at);
    },
  },
  {
    code: 'copy_mismatch',
    says: 'transaction, network and payer beside the receipt have the signed values.',
    fault: ({ document, artifacts: [artifact] }) => {
      if (isArtifact(document)) return null;
      const names = ['transaction', 'network', 'payer'];
      const other = names.find(name => document[name] !== undefined && document[name] !== artifact?.facts?.[name]);
      return other === undefined ? null : `${other} is not what was signed.`;
    },
  },
];

const signed_beside = ['transaction', 'network', 'payer'];

/** Paths of the members that no signature covers. */
function besideIn({ accepts, resource, extensions, ...document }: JsonObject): string[] {
  const within = (name: string, value: Json | undefined, signed: readonly string[]) =>
    isJsonObject(value)
      ? Object.keys(value).flatMap(member => (signed.includes(member) ? [] : [`${name}.${member}`]))
      : [];
  return [
    ...Object.keys(document).filter(name => !signed_beside.includes(name)),
    ...within('resource', resource, ['url']),
    ...(Array.isArray(accepts) ? accepts : []).flatMap((offer, at) => within(`accepts.${at}`, offer, terms)),
    ...within('extensions', extensions, ['offer-receipt']),
    ...within('extensions.offer-receipt', isJsonObject(extensions) ? extensions['offer-receipt'] : undefined, ['info']),
  ];
}

const hostsOf = (facts: readonly JsonObject[]) =>
  [
    ...new Set(
      facts.map(({ resourceUrl }) => (URL.canParse(String(resourceUrl)) ? new URL(String(resourceUrl)).host : '?')),
    ),
  ].join(', ');
