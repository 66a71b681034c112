package confedit

import (
	"fmt"

	"golang.org/x/sys/windows"
)

const nonblock = 0

// owned wants a file of the administrators or of the system. %ProgramData%
// lets every user make new folders, so a folder that an administrator did not
// make may be anybody's.
func owned(path string) error {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return err
	}
	for _, known := range []windows.WELL_KNOWN_SID_TYPE{windows.WinBuiltinAdministratorsSid, windows.WinLocalSystemSid} {
		sid, err := windows.CreateWellKnownSid(known)
		if err == nil && owner.Equals(sid) {
			return nil
		}
	}
	return fmt.Errorf("its owner is not an administrator")
}
