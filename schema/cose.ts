/*
 * Labels and values of COSE that signed statements use, as IANA has them: what signs and what verifies read them here.
 * Header parameters: RFC 9052 §3.1, RFC 9597 (CWT claims), RFC 9942 §2 (receipts). CWT claims: RFC 8392 §4.
 */

export const coseHeader = {
  alg: 1,
  crit: 2,
  content_type: 3,
  kid: 4,
  cwt_claims: 15,
  receipts: 394,
  vds: 395,
  vdp: 396,
  /** Private parameter: RFC 9942 signs a root without its size, so the same root could be claimed for another size. */
  tree_size: 'tree_size',
} as const;

export const cwtClaim = { iss: 1, sub: 2, iat: 6 } as const;

/** RFC 9053 §2.1. */
export const COSE_ES256 = -7;
/** Tag of a COSE_Sign1. */
export const COSE_SIGN1 = 18;
/** RFC 9942: the tree of RFC 9162 over SHA-256. */
export const RFC9162_SHA256 = 1;
/** RFC 9942: of the proofs of that tree. */
export const INCLUSION_PROOFS = -1;

/** Context of a COSE_Sign1 in its Sig_structure (RFC 9052 §4.4). */
export const SIGNATURE1 = 'Signature1';

/** RFC 9943: a signed statement; with its receipts in the unprotected header, a transparent one. */
export const SCITT_STATEMENT = 'application/scitt-statement+cose';
/** What a statement of ours is of. */
export const STATEMENT_CONTENT = 'application/json';
