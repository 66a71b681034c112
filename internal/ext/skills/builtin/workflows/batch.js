export const meta = {
  name: 'batch',
  description: 'Make one kind of change in many places: 5 to 30 units, each by an agent in its own worktree.',
  whenToUse: 'For a change of the same kind in many places that do not depend on each other. args: what to change everywhere, as a text.',
  phases: [
    { title: 'Units', detail: 'find all places, and split them' },
    { title: 'Changes', detail: 'one agent for each unit, in a worktree' },
  ],
}

const least = 5
const most = 30

if (typeof args !== 'string' || args.trim() === '') throw new Error('say what to change everywhere: /batch TEXT')

phase('Units')
const plan = await agent(
  `A change is to be made everywhere it belongs in this repository:

${args}

Change nothing. Find every place with tools, not from memory. Split them into ${least} to ${most} units that do not touch each other's files (a file, a package, a call site with its test). Small places that belong together are one unit.
Report: the units, each with a title of a few words, its files and what is to be done there; the recipe by which each is done, exactly enough for somebody who sees one unit only; the command that checks one unit; and what you leave out, with the reason.`,
  {
    label: 'find the units',
    schema: {
      type: 'object',
      required: ['units', 'recipe', 'check'],
      properties: {
        units: {
          type: 'array',
          items: {
            type: 'object',
            required: ['title', 'files', 'task'],
            properties: { title: { type: 'string' }, files: { type: 'array', items: { type: 'string' } }, task: { type: 'string' } },
          },
        },
        recipe: { type: 'string' },
        check: { type: 'string' },
        leftOut: { type: 'string' },
      },
    },
  },
)
if (plan === null) throw new Error('the agent that looks for the units came to no end')
if (plan.units.length < least) return { units: plan.units, why: `only ${plan.units.length} units were found: make the change without /batch`, recipe: plan.recipe, leftOut: plan.leftOut }
if (plan.units.length > most) throw new Error(`${plan.units.length} units were found, and at most ${most} can be made at a time: name a part of the repository`)
log(`${plan.units.length} units`)

phase('Changes')
const results = await parallel(plan.units.map((unit) => () => agent(
  `Make one unit of a change that others make elsewhere at the same time.

The whole change: ${args}
Your unit: ${unit.title}
Its files: ${unit.files.join(', ')}
Its task: ${unit.task}
The recipe: ${plan.recipe}
The check: ${plan.check}

You are in a worktree of your own. Change only what belongs to your unit. Run the check. Where the unit does not fit the recipe, leave it as it was and say why: bend nothing until it passes. Commit what you changed.`,
  {
    label: unit.title,
    isolation: 'worktree',
    schema: {
      type: 'object',
      required: ['result', 'checked', 'note'],
      properties: { result: { enum: ['done', 'skipped', 'failed'] }, branch: { type: 'string' }, checked: { type: 'string' }, note: { type: 'string' } },
    },
  },
)))

const cell = (text) => String(text ?? '').replaceAll('|', '\\|').replace(/\s+/g, ' ')
const rows = plan.units.map((unit, i) => {
  const r = results[i] ?? { result: 'failed', checked: 'no', note: 'its agent came to no end' }
  return `| ${[unit.title, r.result, r.branch, r.checked, r.note].map(cell).join(' | ')} |`
})
return {
  table: ['| unit | result | branch | checked | note |', '|---|---|---|---|---|', ...rows].join('\n'),
  done: results.filter((r) => r?.result === 'done').length,
  of: plan.units.length,
  leftOut: plan.leftOut,
}
