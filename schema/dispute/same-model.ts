/*
 * Whether a model name in a response of a hub means the requested model. Part of dispute rule 4 and of receipt policy 9: a change
 * is a new version of both.
 */

const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12]\\d|3[01])';

/** Version suffixes of model names: dates such as 2024-08-06, 20240806, 0806 or 2408, and numbers such as 001. */
const VERSION = new RegExp(
  `^[-@](?:20\\d\\d-${MONTH}-${DAY}|20\\d\\d${MONTH}${DAY}|${MONTH}${DAY}|2\\d${MONTH}|00[1-9])$`,
);

/** Prefix of ids of the third-party router in this service's list. */
const AT_ROUTER = 'router/';

/**
 * The same id, possibly with a version suffix. If only one of them names a provider (`openai/gpt-4o` and `gpt-4o`), the provider is
 * ignored; two providers must be equal. Otherwise exact: another letter case, `:free` and `-latest` are other names, for which the
 * configured aliases of the hub decide.
 * @param requested id that the receipt has as `model`, or an id of a catalogue
 */
export function isSameModel(requested: string, answered: string): boolean {
  const asked = requested.startsWith(AT_ROUTER) ? requested.slice(AT_ROUTER.length) : requested;
  const both = asked.includes('/') === answered.includes('/');
  const [id, named] = both ? [asked, answered] : [withoutProvider(asked), withoutProvider(answered)];
  if (id === '') return false;
  return named === id || (named.startsWith(id) && VERSION.test(named.slice(id.length)));
}

function withoutProvider(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
