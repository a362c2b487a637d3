import { isJsonObject, type Json } from '../../../schema/canonical-json.ts';
import { ADDRESSES_TYP } from '../../../schema/documents.ts';
import { revocationOf } from './key-times.ts';
import { type Jwks, parseJws, verifyEs256 } from './signature.ts';
import type { Check } from './signed-document.ts';

/*
 * Finds the addresses of the issuer, to check unsigned links. A service that has moved shows documents that it signed at its former
 * address, with links to its current one.
 */

export interface Addresses {
  /** Base URLs that links may have. */
  readonly bases: readonly string[];
  /** True if these are all addresses of the issuer, according to its key set or to the reader. */
  readonly all: boolean;
}

/**
 * The addresses to which links of a document may lead.
 * @param iss issuer that the document signs
 * @param base_url base URL at which the document was read; undefined if the reader does not state it
 */
export function addressesOf(iss: Json | undefined, base_url: string | undefined, jwks: Jwks): Addresses {
  const signed = signedAddresses(jwks);
  const bases = [iss, base_url, ...(signed ?? [])].filter(base => typeof base === 'string');
  return { bases: [...new Set(bases)], all: base_url !== undefined || signed !== null };
}

const signed_in = new WeakMap<Jwks, readonly string[] | null>();

/**
 * The base URLs in the `addresses` of a key set. That is a token signed by one of its keys, so that a copy of the key set cannot add an
 * address. It must have its own type, so that no other token of the issuer is accepted in its place, and must list the issuer. Null if
 * the key set has no valid one.
 */
export function signedAddresses(jwks: Jwks): readonly string[] | null {
  const known = signed_in.get(jwks);
  if (known !== undefined) return known;
  const jws = parseJws(jwks.addresses);
  const signed =
    jws?.header.alg === 'ES256' &&
    jws.header.typ === ADDRESSES_TYP &&
    revocationOf(jwks, jws.header.kid) === null &&
    verifyEs256(jwks, jws.header.kid, jws.input, jws.signature);
  const { iss, base_urls } = signed ? jws.claims : {};
  const whole = typeof iss === 'string' && Array.isArray(base_urls) && base_urls.includes(iss);
  const found = whole ? base_urls.filter(base => typeof base === 'string') : null;
  signed_in.set(jwks, found);
  return found;
}

/** A link of a document, with the path that it must have below the base URL. */
export interface ShownLink {
  readonly name: string;
  readonly link: Json | undefined;
  readonly path: string;
}

/** The links in the `verification` of a document. @param paths expected paths, by the names of the links */
export function linksWithin(verification: Json | undefined, paths: Readonly<Record<string, string>>): ShownLink[] {
  const within = isJsonObject(verification) ? verification : {};
  return Object.entries(paths).map(([name, path]) => ({ name, link: within[name], path }));
}

/**
 * The fault of the first link that leads to none of the issuer's addresses; null if there is none. An absent link is ignored. If the issuer
 * may have other addresses, and the links lead to only one unknown address, the issuer may have moved there.
 */
export function linkFault(links: readonly ShownLink[], { bases, all }: Addresses): string | Check | null {
  const shown = links.filter(({ link }) => link !== undefined);
  const leads = (base: string, { link, path }: ShownLink) => link === base + path;
  const foreign = shown.find(link => !bases.some(base => leads(base, link)));
  if (foreign === undefined) return null;
  const other = otherBase(foreign);
  const moved = !all && other !== null && shown.every(link => [...bases, other].some(base => leads(base, link)));
  if (!moved) return `${foreign.name} does not point to the issuer.`;
  return {
    code: 'address_unknown',
    sentence: `The document is signed by ${bases.join(', ')}, but ${foreign.name} points to ${other}. The issuer may have moved there: to check, give the key set that it publishes now, or its current base URL.`,
  };
}

function otherBase({ link, path }: ShownLink): string | null {
  if (typeof link !== 'string' || !link.endsWith(path)) return null;
  const base = link.slice(0, -path.length);
  return /^https?:\/\/[^\s?#]+$/.test(base) && URL.canParse(base) ? base : null;
}
