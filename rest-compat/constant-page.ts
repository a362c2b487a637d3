import { limits } from '../schema/limits.ts';
import type { Face, PageDoor } from './door.ts';
import { packedForms } from './packed-forms.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';

const made = new WeakMap<Port, Map<PageDoor, Answer>>();

/**
 * A page that does not change while the service runs. It is made on first use and stored with its ETag and compressed forms: describing all
 * endpoints takes a tenth of a second and each compression some milliseconds, and these requests are free.
 */
export async function constantPage(door: PageDoor, house: Face, make: () => Promise<Answer>): Promise<Answer> {
  const pages = made.get(house.port) ?? new Map<PageDoor, Answer>();
  made.set(house.port, pages);
  const known = pages.get(door);
  if (known) return known;
  const answer = await make();
  const { body } = answer;
  const isLong = typeof body === 'string' && Buffer.byteLength(body) >= limits.compressed_answer_bytes_min;
  const page = isLong ? { ...answer, packed: packedForms(body) } : answer;
  pages.set(door, page);
  return page;
}
