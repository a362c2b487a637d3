/*
 * Whether a hub that was asked for one model names the same in its answer. A part of rule 4 of disputes and of receipt policy 9: a change
 * is another version of both.
 */

const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12]\\d|3[01])';

/** What makers of models add to a name to say which version of it: dates as 2024-08-06, 20240806, 0806 or 2408, and numbers as 001. */
const VERSION = new RegExp(
  `^[-@](?:20\\d\\d-${MONTH}-${DAY}|20\\d\\d${MONTH}${DAY}|${MONTH}${DAY}|2\\d${MONTH}|00[1-9])$`,
);

/** Before the ids of a third-party router where this service lists them. */
const AT_ROUTER = 'router/';

/**
 * The same id, also with a version behind it. Where one of both names who provides the model (`openai/gpt-4o`) and the other does not
 * (`gpt-4o`), the provider says nothing; two providers have to be the same. Pure, and exact otherwise: letters in another case, `:free` and
 * `-latest` make another name, of which the hub's configured aliases decide.
 * @param requested the id that stands on the receipt as `model`, or in a catalogue
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
