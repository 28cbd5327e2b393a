#include "chapters.h"

static const Implementation *const chapters[] = {
#define CHAPTER(NAME) NAME##_functions,
    EACH_CHAPTER(CHAPTER)
    NULL,
};

const Implementation *find_implementation(const char *name)
{
    for (int i = 0; chapters[i] != NULL; i++) {
        for (const Implementation *entry = chapters[i]; entry->name != NULL; entry++) {
            if (strcmp(entry->name, name) == 0) {
                return entry;
            }
        }
    }
    return NULL;
}
