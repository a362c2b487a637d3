import { z } from 'zod';
import { type EmptyReason, emptyReasons } from '../export-coverage.ts';
import { computed, TimeMember, wordMember } from '../noun.ts';

/* What is shown of an export that the owner of a book has published. */

const agent_id = z.int().describe('Id of the agent whose book it is.');

export const PublishedExportNoun = z.object({
  agent_id,
  slug: z
    .string()
    .describe(
      'Slug by which anybody can pull it: GET /public/export/{slug}. Random, and a new one after a withdrawal.',
    ),
  url: computed(z.string().describe('Public address of the export.')),
  published_at: TimeMember.describe('Time it was first published (RFC 3339, UTC).'),
  exported_at: TimeMember.describe('Time the export that is served was built (RFC 3339, UTC).'),
  row_count: z.int().describe('Number of rows in the export.'),
  complete: z.boolean().describe('True if every row of the book is in the export.'),
  truncated: z
    .boolean()
    .nullable()
    .describe(
      'True if matching rows are missing from the export, because of limit or because the build ran out of time. Null until the export has been built.',
    ),
  matching_count: z
    .int()
    .nullable()
    .describe(
      'Number of rows that match the filter, including those left out of the export. Null until the export has been built, or if the build ran out of time.',
    ),
  empty_reason: wordMember<EmptyReason>()
    .nullable()
    .describe('Why the export has no rows: `empty_by_policy` or `empty_by_drain`. Null if it has rows.')
    .meta({ words: emptyReasons }),
});

export const WithdrawnExportNoun = z.object({
  agent_id,
  slug: z.string().describe('Slug that the export had. It is not used again.'),
  withdrawn_at: TimeMember.describe('Time it was withdrawn (RFC 3339, UTC).'),
});
